import { ConfigError, InputError } from '../../../domain/errors.ts'
import { companyQuestion } from '../../../domain/lists/company-question.ts'
import { companyRow } from '../../../domain/lists/company-row.ts'
import type { CompanyOfRow } from '../../../domain/lists/list-row.ts'
import { referenceTest } from '../../../domain/lists/references.ts'
import type { Atomic } from '../../../domain/money.ts'
import { nearNames } from '../../../domain/normalise/near-names.ts'
import type { Operation } from '../../../domain/words.ts'
import { usualPageSize } from '../../../service/calls/guard-limits.ts'
import { createMatches } from '../../../store/matches/matches.ts'
import { unclearJoins } from '../../../store/champions/joins.ts'
import type { Config } from '../../config/config.ts'
import { championOfList } from '../../config/watching/champion-lists.ts'
import type { PeopleSettings } from '../../config/list-sources.ts'
import {
  givenListSettings,
  monitorOfList,
  type MatchConfig,
  type MatchPart,
} from '../../config/watching/match-lists.ts'
import { objectOfList, type ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { searchesOf, type ListSearch } from './partitions.ts'
import { knownOfAccount, withAcceptedNames } from '../../service/known-of-account.ts'
import { planCall, type PlannedCall } from '../../service/plan-call.ts'
import { knownReferences } from '../like/known-references.ts'
import { finishedRows } from './finished-rows.ts'
import type { ListCalls, PartCalls } from './part-calls.ts'

export { boundsOf, callOf, type ListCalls } from './part-calls.ts'

const mostInReview = 500

/** Returns the settings of a list. Throws ConfigError with the near names. */
export function listNamed(config: Pick<Config, 'lists'> & MatchConfig, name: string): ListSettings {
  const { lists } = config
  const found = Object.hasOwn(lists, name) ? lists[name] : givenListSettings(config, name)
  if (found) return found
  const known = Object.keys(lists)
  const near = nearNames(name, known)
  throw new ConfigError(
    'no_list',
    known.length === 0
      ? 'there are no lists: name one under lists in paydirt.config.ts (docs/lists.md)'
      : `there is no list ${name}; ${near.length > 0 ? `near: ${near.join(', ')}` : `there are ${known.join(', ')}`}`,
  )
}

/** The circumstances of a command that opens a list. */
export interface OpenOptions {
  /** Allows a free question for the plan's limits. */
  asks: boolean
  maxAtomic?: Atomic | undefined
  /** Allows reading the references of a list out of their CRM, which is free, until it is aborted. */
  reads?: AbortSignal | undefined
}

/**
 * Returns the calls of a list. Throws InputError for filters that the catalogue or the guard refuses, and ConfigError for a CRM or an
 * object that is not set up, or for references that nobody has read yet.
 */
export async function listCalls(context: Context, name: string, options: OpenOptions): Promise<ListCalls> {
  const settings = listNamed(context.config, name)
  const match = Object.hasOwn(context.config.lists, name) ? undefined : monitorOfList(name)
  if (match) return waitingCalls(context, { name, settings, ...match })
  const watch = Object.hasOwn(context.config.lists, name) ? undefined : championOfList(name)
  if (watch !== undefined) {
    const given = await unclearJoins(context.database.db, watch, mostInReview)
    return givenCalls({ name, settings, given: given.map((row, at) => ({ ...row, ordinal: at + 1 })) })
  }
  return settings.people
    ? peopleCalls(context, { name, settings, people: settings.people }, options)
    : searchCalls(context, { name, settings }, options)
}

/** Returns the calls of a list's own search. */
async function searchCalls(
  context: Context,
  { name, settings, keptAs = name }: Pick<ListCalls, 'name' | 'settings'> & { keptAs?: string },
  options: OpenOptions,
): Promise<ListCalls> {
  const { pageOf, ...bounds } = await openSearch(context, settings, settings.search, options)
  const similar = settings.like && (await similarOf(context, { name, settings }, options))
  const searches = similar?.references.map(({ question }, at): ListSearch => ({
    name: `reference ${at + 1}`,
    filters: { ...settings.filters, ...question },
    place: `lists.${name}`,
  }))
  const parts = (searches ?? searchesOf(name, settings)).map((search) => ({
    name: search.name,
    page: (number: number) => pageOf(search, number),
  }))
  // Filters that are refused are refused before anything is opened or bought.
  for (const part of parts) part.page(1)
  const lastPage = similar ? leastOf(bounds.lastPage, settings.like?.pages ?? 1) : bounds.lastPage
  return { name, keptAs, settings, ...bounds, lastPage, parts, similar }
}

async function similarOf(
  context: Context,
  { name, settings }: Pick<ListCalls, 'name' | 'settings'>,
  { reads }: OpenOptions,
): Promise<ListCalls['similar']> {
  const found = await knownReferences(context, name, settings, { reads })
  const { limit, like } = settings
  const ranking = { object: objectOfList(settings), minScore: like?.minScore, limit }
  return { ...found, isReference: referenceTest(found.references), ranking }
}

/** Returns the calls of a list of people: one question a company of its search, as far as the companies were fetched. */
async function peopleCalls(
  context: Context,
  { name, settings, people }: Pick<ListCalls, 'name' | 'settings'> & { people: PeopleSettings },
  options: OpenOptions,
): Promise<ListCalls> {
  const { people: _, requires: __, limit: ___, ...search } = settings
  const calls = await searchCalls(
    context,
    {
      // Their cost counts in the month of the list.
      name,
      keptAs: companiesOf(name),
      settings: { ...search, ...(people.companies && { limit: people.companies }) },
    },
    options,
  )
  const { pageOf } = await openSearch(context, settings, 'people.search', options)
  const parts: PartCalls[] = []
  const reload = async (): Promise<void> => {
    parts.length = 0
    for await (const row of finishedRows(context, calls)) {
      const filters = companyQuestion(row, people)
      const search = { name: row.rowKey, filters: filters ?? {}, place: `lists.${name}.people` }
      if (filters) parts.push({ name: row.rowKey, page: (number) => pageOf(search, number) })
    }
  }
  await reload()
  // Words that nobody knows are refused before the companies are bought.
  const filters = companyQuestion({ identities: [], serviceId: 'any' }, people) ?? {}
  pageOf({ name: 'any', filters, place: `lists.${name}.people` }, 1)
  return {
    name,
    keptAs: name,
    settings,
    pageSize: people.perCompany,
    lastPage: 1,
    parts,
    companies: { calls, reload },
  }
}

/** Returns the calls of the list of a monitor's matches: its rows are the companies that wait for a person. */
async function waitingCalls(
  context: Context,
  {
    name,
    settings,
    monitor,
    part,
  }: Pick<ListCalls, 'name' | 'settings'> & { monitor: string; part: MatchPart },
): Promise<ListCalls> {
  const waiting =
    part === 'companies'
      ? await createMatches(context.database.db, context).inReview(monitor, mostInReview)
      : []
  const rows = waiting.flatMap(({ company }, at) => {
    const row = companyRow(company, { hosts: context.config.networkHosts })
    return row ? [{ ...row, ordinal: at + 1 }] : []
  })
  return givenCalls({ name, settings, given: rows })
}

/** Returns the calls of a list whose rows are given: it has none. */
export function givenCalls(list: Pick<ListCalls, 'name' | 'settings' | 'given' | 'makes'>): ListCalls {
  return { ...list, keptAs: list.name, pageSize: usualPageSize, lastPage: 1, parts: [] }
}

/**
 * Returns the calls of a list of people at one company: a single question. Undefined for a company at which nobody can be searched for.
 * Throws what other lists throw.
 */
export async function peopleAtCompany(
  context: Context,
  { name, settings, company }: Pick<ListCalls, 'name' | 'settings'> & { company: CompanyOfRow },
  options: OpenOptions,
): Promise<ListCalls | undefined> {
  const { people } = settings
  const filters = people && companyQuestion(company, people)
  if (!people || !filters) return undefined
  const { pageOf } = await openSearch(context, settings, 'people.search', options)
  const search = { name: company.key, filters, place: `${name}` }
  return {
    name,
    keptAs: `${name}/${company.key}`,
    settings,
    pageSize: people.perCompany,
    lastPage: 1,
    parts: [{ name: company.key, page: (number) => pageOf(search, number) }],
    company,
  }
}

/** Returns the name under which the companies of a list of people are kept. No list of the settings can have it. */
function companiesOf(list: string): string {
  return `${list}/companies`
}

type Search = Pick<ListCalls, 'pageSize' | 'lastPage'> & {
  pageOf(search: ListSearch, number: number): PlannedCall
}

async function openSearch(
  context: Context,
  settings: ListSettings,
  operation: Operation,
  { asks, maxAtomic }: OpenOptions,
): Promise<Search> {
  const known = await knownOfAccount(context, { asks })
  const config = await withAcceptedNames(context.config, context)
  const asked = settings.filters['per_page']
  const refused = known.limits.find((limit) => limit.operation === operation && limit.name === 'page')?.value
  return {
    pageSize: typeof asked === 'number' ? asked : (known.pageSize ?? usualPageSize),
    lastPage: known.lastPage === undefined ? refused : leastOf(known.lastPage, refused),
    pageOf({ filters, place }, number) {
      try {
        return planCall(config, { operation, body: { ...filters, page: number }, maxAtomic }, known)
      } catch (error) {
        if (error instanceof InputError)
          throw new InputError(
            error.code,
            // Lists have no such option: what is sent stands in the settings.
            `${place}: ${error.message.replace('--unchecked sends it all the same, ', '')}`,
            { cause: error },
          )
        throw error
      }
    },
  }
}

function leastOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}
