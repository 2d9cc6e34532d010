import { contactTypes } from '../../service/schema/contact.ts'
import { searchIdOf } from '../data/contact-answer.ts'
import { personUrl } from '../data/contacts.ts'
import type { Member } from '../data/directory.ts'
import { departmentOf, levelOf, searchPeople, type PeopleFilters } from '../data/people-search.ts'
import { personAnswer } from '../data/person.ts'
import type { PaidEndpoint } from './paid-endpoint.ts'
import {
  isAbsent,
  isRefused,
  malformed,
  OVER_LIMIT,
  OVER_PAGE,
  parseObject,
  readBody,
} from './request-body.ts'

const filterNames = [
  'domains',
  'departments',
  'exclude_departments',
  'management_levels',
  'people_contact_types',
] as const

/**
 * `POST /people/search`: returns members of the directory by filter, page by page. An overflow is a 416, never a
 * shorter page.
 */
export const peopleSearch: PaidEndpoint = {
  name: 'people_search',
  keys: (text) => {
    const body = parseObject(text)
    return body === null ? [] : [`search ${JSON.stringify(body)}`]
  },
  ceiling: (_, prices) => prices.peopleSearch,
  answer(ask) {
    const read = readBody(ask, [...filterNames, 'page', 'per_page'])
    if (isRefused(read)) return { refused: read, status: 400 }
    const { body, ignoredFields } = read
    const filters: Record<string, readonly string[]> = {}
    for (const name of filterNames) {
      const value = body[name]
      if (isAbsent(value)) continue
      if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) {
        return { refused: malformed(`${name} must be a list of strings`, name), status: 400 }
      }
      filters[name] = value
    }
    const { max_search_per_page: mostPerPage, max_search_page: lastPage } = ask.faults.current.plan
    const page = isAbsent(body['page']) ? 1 : body['page']
    const perPage = isAbsent(body['per_page']) ? mostPerPage : body['per_page']
    for (const [name, value] of Object.entries({ page, per_page: perPage })) {
      if (!Number.isInteger(value) || (value as number) < 1) {
        return { refused: malformed(`${name} must be a positive integer`, name), status: 400 }
      }
    }
    if ((perPage as number) > mostPerPage) return over(OVER_LIMIT, 'per_page', mostPerPage)
    if ((page as number) > lastPage) return over(OVER_PAGE, 'page', lastPage)

    const found = searchPeople(filters as PeopleFilters)
    const from = ((page as number) - 1) * (perPage as number)
    const types = filters['people_contact_types']
    const isUnknownType = types !== undefined && !types.some((type) => contactTypes.includes(type as never))
    return {
      data: {
        pagination: {
          page,
          per_page: perPage,
          total_entries: found.length,
          total_pages: Math.ceil(found.length / (perPage as number)),
        },
        peoples: found
          .slice(from, from + (perPage as number))
          .map((each) => ({ ...rowOf(each), ...(isUnknownType && { emails: null }) })),
      },
      // An unknown type costs nothing, because its answer looks like a person without contact data.
      credits: isUnknownType ? 0 : ask.prices.peopleSearch,
      ignoredFields,
      creditsAt: 'metadata',
    }
  },
}

function rowOf(each: Member) {
  const { data } = personAnswer(personUrl(each.slug))
  return {
    people_search_id: searchIdOf(each.slug),
    name: data?.name ?? null,
    title: data?.employment_history?.[0]?.title ?? null,
    department: departmentOf(each),
    management_level: levelOf(each),
    profnet_url: data?.profnet_url ?? null,
    company_name: each.employer.name,
    domain: each.employer.domain,
  }
}

function over(code: number, parameter: string, limit: number) {
  const message = `${parameter} is above the plan's limit of ${limit}`
  return { refused: { code, message, details: { parameter, limit } }, status: 416 as const }
}
