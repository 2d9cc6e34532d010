import { contactTypes, type ContactType } from '../../service/schema/contact.ts'
import { fraction } from '../random.ts'
import { contactsOf } from './contacts.ts'
import { DIRECTORY_SIZE, member, type Member } from './directory.ts'
import { foldDomain, foldName } from './fold.ts'

/** Not the real catalogs, which are not published: just enough of one to match against. */
const departments = [
  'Sales',
  'Marketing',
  'Engineering',
  'Finance and Accounting',
  'Human Resources',
  'Purchasing and Procurement',
] as const

const managementLevels = [
  'Owner',
  'C-Level',
  'Vice President',
  'Director',
  'Manager',
  'Individual Contributor',
] as const

export interface PeopleFilters {
  domains?: readonly string[]
  departments?: readonly string[]
  exclude_departments?: readonly string[]
  management_levels?: readonly string[]
  people_contact_types?: readonly string[]
}

export const departmentOf = ({ index }: Member) => pickOf(departments, `department ${index}`)
export const levelOf = ({ index }: Member) => pickOf(managementLevels, `level ${index}`)

/** Returns every known member that fits all filters, in the order of the directory. */
export function searchPeople(filters: PeopleFilters): Member[] {
  const domains = filters.domains && new Set(filters.domains.map((domain) => foldDomain(domain)))
  const wanted = filters.departments && entriesOf(departments, filters.departments)
  const unwanted = entriesOf(departments, filters.exclude_departments ?? [])
  const levels = filters.management_levels && entriesOf(managementLevels, filters.management_levels)
  const types = filters.people_contact_types?.filter((type) => contactTypes.includes(type as ContactType))
  const found: Member[] = []
  for (let index = 0; index < DIRECTORY_SIZE; index++) {
    const each = member(index)
    if (each.unknown || (domains && !domains.has(each.employer.domain))) continue
    const department = departmentOf(each)
    if ((wanted && !wanted.has(department)) || unwanted.has(department)) continue
    if (levels && !levels.has(levelOf(each))) continue
    if (types && types.length > 0 && !hasAny(each, types)) continue
    found.push(each)
  }
  return found
}

/**
 * Returns the catalog entries that the values name, ignoring case, spaces and punctuation. A value names the entry that
 * it equals, or the only entry that contains all of its words. Any other value names nothing and finds no one.
 */
function entriesOf(catalog: readonly string[], values: readonly string[]): Set<string> {
  return new Set(
    values.flatMap((value) => {
      const whole = catalog.find((entry) => squeezed(entry) === squeezed(value))
      if (whole !== undefined) return [whole]
      const words = foldName(value).split(' ').filter(Boolean)
      const holding = catalog.filter((entry) =>
        words.every((word) => foldName(entry).split(' ').includes(word)),
      )
      return words.length > 0 && holding.length === 1 ? holding : []
    }),
  )
}

function hasAny({ slug }: Member, types: readonly string[]) {
  const { emails, phones } = contactsOf(slug)
  return types.some((type) =>
    type === 'phone' ? phones.length > 0 : emails.some((email) => `email-${email.type}` === type),
  )
}

function squeezed(text: string) {
  return foldName(text).replaceAll(' ', '')
}

function pickOf<T>(list: readonly T[], text: string): T {
  return list[Math.floor(fraction(text) * list.length)]!
}
