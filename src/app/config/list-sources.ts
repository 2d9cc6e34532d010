import { z } from 'zod'
import { crmNames } from '../../connectors/definitions.ts'
import { parseFilter } from '../../connectors/parse-filter.ts'

/** The searches that ask for what is like a reference. */
const similarSearches = ['company.similar', 'people.similar'] as const

/** Each reference is a question that is paid. */
export const mostReferences = 1_000
const texts = z.array(z.string().trim().min(1)).min(1).max(mostReferences)
const condition = z.string().refine((text) => parseFilter(text) !== undefined, {
  message: 'must be PROPERTY=VALUE, PROPERTY!=VALUE, PROPERTY= (blank) or PROPERTY!= (filled)',
})

/** The sources of references; a list has one of them. */
const sources = ['connector', 'csv', 'profiles', 'domains', 'ids'] as const
const ofCrm = ['entity', 'filter', 'top', 'by'] as const

/** `{ connector: 'hubspot', filter: 'lifecyclestage=customer', top: 50, by: 'annualrevenue' }` */
export const likeSchema = z
  .strictObject({
    connector: z.enum(crmNames).optional(),
    entity: z.string().min(1).optional(),
    filter: z.union([condition, z.array(condition).min(1)]).optional(),
    top: z.int().min(1).max(mostReferences).optional(),
    by: z.string().min(1).optional(),
    csv: z.string().min(1).optional(),
    profiles: texts.optional(),
    domains: texts.optional(),
    ids: texts.optional(),
    pages: z.int().min(1).optional(),
    minScore: z.number().min(0).optional(),
  })
  .superRefine((like, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
    const given = sources.filter((name) => like[name] !== undefined)
    if (like.connector === undefined)
      for (const name of ofCrm)
        if (like[name] !== undefined) refuse([name], 'belongs to references out of a CRM: name the connector')
    const kinds = given.filter((name) => name === 'connector' || name === 'csv')
    if (given.length === 0)
      refuse([], 'names no references: a connector with a filter, a csv, or profiles, domains or ids')
    else if (kinds.length > 1 || (kinds.length === 1 && given.length > 1))
      refuse([], `takes references from one place, and names ${given.join(' and ')}`)
    if (like.connector !== undefined && like.filter === undefined && like.by === undefined)
      refuse(
        [],
        'takes its references out of all records: narrow them by a filter, or take the best by a property',
      )
  })
export type LikeSettings = z.output<typeof likeSchema>

/** More would not stand on one page. */
const mostPerCompany = 25

/** `{ perCompany: 3, levels: ['C-Level'], departments: ['Finance'] }` */
export const peopleSchema = z.strictObject({
  perCompany: z.int().min(1).max(mostPerCompany),
  levels: texts.optional(),
  departments: texts.optional(),
  titles: texts.optional(),
  companies: z.int().min(1).optional(),
})
export type PeopleSettings = z.output<typeof peopleSchema>

/** Keys of a similar search that would name a reference beside those of the list. */
const referenceKeys: Readonly<Record<(typeof similarSearches)[number], readonly string[]>> = {
  'company.similar': [
    'domain',
    'profnet_url',
    'domain_search_id',
    'tiktok_url',
    'wantedly_url',
    'tw104_url',
    'rocketpunch_url',
    'remember_url',
    'youtrust_url',
  ],
  'people.similar': ['profnet_url', 'people_search_id', 'people_titles'],
}

interface Sources {
  search: string
  filters: Readonly<Record<string, unknown>>
  like?: LikeSettings | undefined
  people?: PeopleSettings | undefined
  partitions?: readonly unknown[] | undefined
}

/** Returns what does not fit together in a list's search, references and people: the place and the reason. */
export function faultsOfSources({
  search,
  filters,
  like,
  people,
  partitions,
}: Sources): { path: string[]; message: string }[] {
  const faults: { path: string[]; message: string }[] = []
  const similar = similarSearches.find((each) => each === search)
  if (like && !similar)
    faults.push({ path: ['like'], message: `belongs to a search of ${similarSearches.join(' or ')}` })
  if (like && similar)
    for (const key of referenceKeys[similar])
      if (filters[key] !== undefined)
        faults.push({ path: ['filters', key], message: 'names a reference, and like does already' })
  if (like && partitions)
    faults.push({ path: ['partitions'], message: 'divide no list with like: its references do' })
  if (like?.domains && search === 'people.similar')
    faults.push({ path: ['like', 'domains'], message: 'name no people: name profiles or ids' })
  if (like?.minScore !== undefined && search === 'people.similar' && like.minScore > 1)
    faults.push({ path: ['like', 'minScore'], message: 'is above 1, the highest score of a person' })
  if (people && search.startsWith('people.'))
    faults.push({ path: ['people'], message: 'belongs to a search of companies, whose people are taken' })
  return faults
}
