import { contactTypes, type ContactType } from '../../service/schema/contact.ts'
import { contactsOf } from '../data/contacts.ts'
import { DIRECTORY_SIZE, member, type Member } from '../data/directory.ts'
import { foldDomain, foldName } from '../data/fold.ts'
import { entriesOf } from '../data/match-words.ts'
import { memberFacts } from '../data/person.ts'
import type { Place } from '../data/places.ts'
import { fraction } from '../random.ts'
import { companyOfDomain } from './companies.ts'
import { placeTest } from './markets.ts'

/** Not the real catalogs, which are not published: just enough of one to match against. */
const departmentFunctions = {
  Sales: ['Account Management', 'Inside Sales', 'Channel Partnerships'],
  Marketing: ['Brand Management', 'Demand Generation', 'Events and Communications'],
  Engineering: ['Software Development', 'Quality Assurance', 'Infrastructure and Operations'],
  'Finance and Accounting': ['Controlling', 'Treasury', 'Tax and Audit'],
  'Human Resources': ['Recruiting and Talent Acquisition', 'Compensation and Benefits', 'Learning'],
  'Purchasing and Procurement': ['Strategic Sourcing', 'Vendor Relations', 'Category Buying'],
} as const
type Department = keyof typeof departmentFunctions
const departments = Object.keys(departmentFunctions) as Department[]
const allFunctions: string[] = Object.values(departmentFunctions).flat()

export const managementLevels = [
  'Owner',
  'C-Level',
  'Vice President',
  'Director',
  'Manager',
  'Individual Contributor',
] as const

export interface PeopleFilters {
  domains?: readonly string[] | undefined
  domain_search_ids?: readonly string[] | undefined
  departments?: readonly string[] | undefined
  exclude_departments?: readonly string[] | undefined
  department_functions?: readonly string[] | undefined
  exclude_department_functions?: readonly string[] | undefined
  management_levels?: readonly string[] | undefined
  people_titles?: readonly string[] | undefined
  exclude_people_titles?: readonly string[] | undefined
  people_locations?: readonly string[] | undefined
  exclude_people_locations?: readonly string[] | undefined
  company_exclude_locations?: readonly string[] | undefined
  people_contact_types?: readonly string[] | undefined
}

/** A member of the directory who can be found, with what a search goes by. */
export interface FoundPerson extends Member {
  department: Department
  function: string
  level: (typeof managementLevels)[number]
  place: Place
  /** The current one, as their profile has it. */
  title: string | null
}

let all: FoundPerson[] | undefined

/** Returns everyone whom a search can find, in the order of the directory. */
export function people(): readonly FoundPerson[] {
  return (all ??= Array.from({ length: DIRECTORY_SIZE }, (_, index) => member(index))
    .filter(({ unknown }) => !unknown)
    .map((each) => {
      const department = pickOf(departments, `department ${each.index}`)
      return {
        ...each,
        department,
        function: pickOf(departmentFunctions[department], `function ${each.index}`),
        level: pickOf(managementLevels, `level ${each.index}`),
        ...memberFacts(each),
      }
    }))
}

/** Returns everyone who fits all filters, in the order of the directory. */
export function searchPeople(filters: PeopleFilters): FoundPerson[] {
  const tests = [
    ...memberOf(filters.domains?.map(foldDomain), (each) => each.employer.domain),
    ...memberOf(filters.domain_search_ids, (each) => `ds-${each.employer.domain}`),
    ...catalogTests(departments, filters.departments, filters.exclude_departments, (each) => each.department),
    ...catalogTests(
      allFunctions,
      filters.department_functions,
      filters.exclude_department_functions,
      (each) => each.function,
    ),
    ...catalogTests(managementLevels, filters.management_levels, undefined, (each) => each.level),
    ...placeTests(filters),
    ...titleTests(filters),
    ...contactTests(filters.people_contact_types),
  ]
  return people().filter((each) => tests.every((test) => test(each)))
}

type Test = (each: FoundPerson) => boolean

function memberOf(
  values: readonly (string | null)[] | undefined,
  valueOf: (each: FoundPerson) => string,
): Test[] {
  const wanted = values && new Set(values)
  return wanted === undefined ? [] : [(each) => wanted.has(valueOf(each))]
}

/** A wanted value that the catalog lacks finds no one; an unwanted one excludes no one. */
function catalogTests<T extends string>(
  catalog: readonly T[],
  wanted: readonly string[] | undefined,
  unwanted: readonly string[] | undefined,
  valueOf: (each: FoundPerson) => T,
): Test[] {
  const [inside, outside] = [wanted && entriesOf(catalog, wanted), unwanted && entriesOf(catalog, unwanted)]
  return [
    ...(inside ? [(each: FoundPerson) => inside.has(valueOf(each))] : []),
    ...(outside ? [(each: FoundPerson) => !outside.has(valueOf(each))] : []),
  ]
}

function placeTests(filters: PeopleFilters): Test[] {
  const tests: Test[] = []
  const { people_locations: wanted, exclude_people_locations: unwanted } = filters
  if (wanted) {
    const isThere = placeTest(wanted)
    tests.push(({ place }) => isThere(place.country, place.city))
  }
  if (unwanted) {
    const isThere = placeTest(unwanted)
    tests.push(({ place }) => !isThere(place.country, place.city))
  }
  if (filters.company_exclude_locations) {
    const isThere = placeTest(filters.company_exclude_locations)
    tests.push(({ employer }) => {
      const place = companyOfDomain(employer.domain)?.place
      return place === undefined || !isThere(place.country, place.city)
    })
  }
  return tests
}

function titleTests({ people_titles: wanted, exclude_people_titles: unwanted }: PeopleFilters): Test[] {
  return [
    ...(wanted ? [(each: FoundPerson) => wanted.some((title) => isTitle(each, title))] : []),
    ...(unwanted ? [(each: FoundPerson) => !unwanted.some((title) => isTitle(each, title))] : []),
  ]
}

/** Unknown types are passed over. Where no known one is left, the filter has no effect. */
function contactTests(asked: readonly string[] | undefined): Test[] {
  const types = asked?.filter((type) => contactTypes.includes(type as ContactType)) ?? []
  if (types.length === 0) return []
  return [({ slug }) => types.some((type) => typesOf(slug).has(type))]
}

const typesBySlug = new Map<string, Set<string>>()

/** Returns the types of contact data that a person has. They are worked out once, since that takes a profile each. */
function typesOf(slug: string): Set<string> {
  let types = typesBySlug.get(slug)
  if (types === undefined) {
    const { emails, phones } = contactsOf(slug)
    types = new Set([...emails.map(({ type }) => `email-${type}`), ...(phones.length > 0 ? ['phone'] : [])])
    typesBySlug.set(slug, types)
  }
  return types
}

/** Returns whether a person's title has all words of the asked one. */
function isTitle({ title }: FoundPerson, asked: string): boolean {
  const words = foldName(asked).split(' ').filter(Boolean)
  const own = foldName(title ?? '').split(' ')
  return words.length > 0 && words.every((word) => own.includes(word))
}

function pickOf<T>(list: readonly T[], text: string): T {
  return list[Math.floor(fraction(text) * list.length)]!
}
