import { contactTypes } from '../../service/schema/contact.ts'
import { searchIdOf, slugOfSearchId } from '../data/contact-answer.ts'
import { personUrl } from '../data/contacts.ts'
import { memberOfSlug } from '../data/directory.ts'
import { foldName } from '../data/fold.ts'
import { personAnswer } from '../data/person.ts'
import { profileKey } from '../data/profile-url.ts'
import { malformed, missing, type BadRequest } from '../http/request-body.ts'
import { domainSearchId } from '../world/companies.ts'
import {
  managementLevels,
  people,
  searchPeople,
  type FoundPerson,
  type PeopleFilters,
} from '../world/people.ts'
import type { World } from '../world/world.ts'
import { companyFilters } from './narrow.ts'
import { searchEndpoint } from './search-endpoint.ts'

const peopleFilters = {
  ...companyFilters,
  departments: 'texts',
  exclude_departments: 'texts',
  department_functions: 'texts',
  exclude_department_functions: 'texts',
  management_levels: 'texts',
  people_titles: 'texts',
  exclude_people_titles: 'texts',
  people_locations: 'texts',
  exclude_people_locations: 'texts',
  company_exclude_locations: 'texts',
  people_contact_types: 'texts',
} as const
const aliases = { person_locations: 'people_locations' } as const

/** `POST /people/search`: returns members of the directory by filter, page by page. */
export const peopleSearch = (world: World) =>
  searchEndpoint(
    {
      name: 'people_search',
      price: 'peopleSearch',
      rows: 'peoples',
      filters: peopleFilters,
      aliases,
      find: (filters) => found(searchPeople(filters), filters),
      show: (each, filters) => ({ ...rowOf(each), ...(asksUnknownType(filters) && { emails: null }) }),
    },
    world,
  )

/** Rows below this are not similar at all. */
const LEAST_SIMILAR = 0.3

/** `POST /people/search/similar`: the reference only says what similar means, all else narrows the result. */
export const peopleSimilar = (world: World) =>
  searchEndpoint(
    {
      name: 'people_similar',
      price: 'peopleSimilar',
      rows: 'peoples',
      filters: { ...peopleFilters, people_search_id: 'text', profnet_url: 'text' },
      aliases,
      find(filters) {
        const { people_titles: _, ...narrowing } = filters
        const reference = referenceOf(filters)
        if ('code' in reference) return reference
        const rows = searchPeople(narrowing)
          .filter(({ slug }) => slug !== reference.slug)
          .map((each) => ({ each, score: similarity(each, reference) }))
          .filter(({ score }) => score >= LEAST_SIMILAR)
          .sort((a, b) => b.score - a.score || a.each.index - b.each.index)
        return found(rows, filters)
      },
      show: ({ each, score }, filters) => ({
        ...rowOf(each),
        similarity_score: score,
        ...(asksUnknownType(filters) && { emails: null }),
      }),
    },
    world,
  )

/** The person to whom others are similar, or a title alone. */
interface Reference {
  slug: string | null
  titles: string[]
  person: FoundPerson | undefined
}

function referenceOf(filters: {
  people_search_id?: string
  profnet_url?: string
  people_titles?: readonly string[]
}): Reference | BadRequest {
  const { people_search_id: id, profnet_url: url, people_titles: titles = [] } = filters
  if (id === undefined && url === undefined) {
    return titles.length === 0
      ? missing('people_search_id')
      : { slug: null, titles: [...titles], person: undefined }
  }
  const key = id === undefined ? profileKey('person', url!) : null
  const slug = id === undefined ? (key === null ? null : key.slice(key.indexOf('/') + 1)) : slugOfSearchId(id)
  if (slug === null) {
    const name = id === undefined ? 'profnet_url' : 'people_search_id'
    return malformed(`${name} names no person`, name)
  }
  const index = memberOfSlug(slug)?.index
  const title = personAnswer(personUrl(slug)).data?.employment_history?.[0]?.title ?? null
  return {
    slug,
    titles: title === null ? [] : [title],
    person: index === undefined ? undefined : people().find((each) => each.index === index),
  }
}

/** Returns 0 to 1: half for the title, half for the place in the company where that is known. */
function similarity(each: FoundPerson, { titles, person }: Reference): number {
  const own = new Set(foldName(each.title ?? '').split(' '))
  const shared = titles.map((title) => {
    const words = foldName(title).split(' ').filter(Boolean)
    return words.filter((word) => own.has(word)).length / Math.max(1, words.length)
  })
  const byTitle = Math.max(0, ...shared)
  if (person === undefined) return hundredths(byTitle)
  const levels = managementLevels.indexOf(each.level) - managementLevels.indexOf(person.level)
  return hundredths(
    0.5 * byTitle +
      (each.department === person.department ? 0.25 : 0) +
      (each.function === person.function ? 0.15 : 0) +
      Math.max(0, 0.1 - 0.03 * Math.abs(levels)),
  )
}

function hundredths(score: number) {
  return Math.round(Math.min(1, score) * 100) / 100
}

/** An unknown type costs nothing, because its answer looks like a person without contact data. */
function found<R>(rows: readonly R[], filters: PeopleFilters) {
  return { rows, ...(asksUnknownType(filters) && { credits: 0 }) }
}

function asksUnknownType({ people_contact_types: types }: PeopleFilters) {
  return types !== undefined && !types.some((type) => contactTypes.includes(type as never))
}

function rowOf(each: FoundPerson) {
  const { data } = personAnswer(personUrl(each.slug))
  return {
    people_search_id: searchIdOf(each.slug),
    name: data?.name ?? null,
    title: data?.employment_history?.[0]?.title ?? null,
    department: each.department,
    management_level: each.level,
    profnet_url: data?.profnet_url ?? null,
    company_name: each.employer.name,
    domain: each.employer.domain,
    domain_search_id: domainSearchId(each.employer.domain),
    department_function: each.function,
    city: each.place.city,
    country_code: each.place.country,
  }
}
