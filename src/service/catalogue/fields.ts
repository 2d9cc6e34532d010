import type { RequestField } from './entry.ts'
import type { Origin } from './origin.ts'
import type { VocabularyName } from './vocabularies.ts'

const section = 'shown 4.4' as const

type Extra = Partial<Omit<RequestField, 'is' | 'origin'>>

export const text = (origin: Origin, extra: Extra = {}): RequestField => ({ is: 'text', origin, ...extra })
export const texts = (origin: Origin, extra: Extra = {}): RequestField => ({ is: 'texts', origin, ...extra })
export const flag = (origin: Origin, extra: Extra = {}): RequestField => ({ is: 'flag', origin, ...extra })

/** A list of texts that narrows a search. */
export const filter = (origin: Origin = section, extra: Extra = {}): RequestField =>
  texts(origin, { isFilter: true, ...extra })

/** A filter with words of its own, compared as the service compares departments: without case, spaces and punctuation. */
export const words = (vocabulary: VocabularyName, origin: Origin = section): RequestField =>
  filter(origin, { vocabulary, fold: 'words' })

/** A range of days. The description names such filters and not their form. */
export const dates = (origin: Origin = section): RequestField => ({ is: 'dates', origin, isFilter: true })

/** Companies to which a search or an insight is narrowed. */
export const companiesByName: Readonly<Record<string, RequestField>> = {
  domains: filter('assumed', { fold: 'domain' }),
  domain_search_ids: filter('assumed'),
}

/** The list keys of every search. The size of a page is set to the plan's maximum where a request names none. */
export const paging: Readonly<Record<string, RequestField>> = {
  page: { is: 'integer', origin: 'shown 8', within: [1, Infinity] },
  per_page: { is: 'integer', origin: 'shown 8', within: [1, Infinity] },
}

const network = (): RequestField => text(section, { fold: 'url' })

/**
 * Nine names of a company, of which a request has one. The description gives the last six by name; the first three are
 * assumed to be the others.
 */
export const companyIdentifiers: Readonly<Record<string, RequestField>> = {
  domain: text('assumed', { fold: 'domain' }),
  profnet_url: text('assumed', { fold: 'url' }),
  domain_search_id: text('assumed'),
  tiktok_url: network(),
  wantedly_url: network(),
  tw104_url: network(),
  rocketpunch_url: network(),
  remember_url: network(),
  youtrust_url: network(),
}

export const companyIdentifierNames: readonly string[] = Object.keys(companyIdentifiers)

/** Filters of expansions by their words, as search, lookup, signals and rankings take them. */
export const expansionFilters: Readonly<Record<string, RequestField>> = {
  stages: filter(section, { vocabulary: 'stages' }),
  signal_types: filter(section, { vocabulary: 'signal_types' }),
  signal_strengths: filter(section, { vocabulary: 'signal_strengths' }),
  freshness: filter(section, { vocabulary: 'freshness' }),
  momentum: filter(section, { vocabulary: 'momentum' }),
  polarity: filter(section, { vocabulary: 'polarity' }),
}
