import { fieldNames } from './answer-fields.ts'
import { assumed, shown, type AnswerShape, type Family, type RequestField } from './entry.ts'
import {
  companiesByName,
  companyIdentifierNames,
  companyIdentifiers,
  expansionFilters,
  filter,
  flag,
  paging,
  text,
} from './fields.ts'

const common = {
  method: assumed('POST'),
  access: assumed('both'),
  price: assumed('unknown'),
  timeoutMs: 30_000,
} as const
const withMetadata: RequestField = flag('shown 4.4', { default: false })
const corridor = { froms: filter(), tos: filter() }
const total = assumed('data.pagination.total_entries')

const expansionRows: AnswerShape = {
  at: assumed('data.expansions'),
  rows: { id: assumed('expansion_id'), total },
  fields: {
    stage: { origin: 'shown 3' },
    'stage.name': { origin: 'assumed', is: 'string', teaches: 'stages' },
    'stage.direction': { origin: 'shown 3', is: 'string' },
    signal_types: { origin: 'assumed', is: 'array', teaches: 'signal_types' },
    freshness: { origin: 'assumed', teaches: 'freshness' },
    polarity: { origin: 'assumed', teaches: 'polarity' },
    momentum: { origin: 'assumed', teaches: 'momentum' },
    domain_search_id: { origin: 'assumed', is: 'string' },
  },
}

/** One company's expansion or several: lean, unless the metadata is asked for. */
const document: AnswerShape = {
  at: assumed('data'),
  fields: {
    stage: { origin: 'shown 3' },
    'stage.direction': { origin: 'shown 3', is: 'string' },
    ...fieldNames('shown 4.4', { confidence_score: 'number' }),
  },
}
const withScore: AnswerShape = {
  at: assumed('data'),
  fields: fieldNames('shown 4.4', { confidence_score: 'number' }),
}

export const expansions = {
  'expansion.search': {
    ...common,
    summary: 'market entries by filters or by a sentence; the service may loosen the filters',
    path: assumed('/expansions/search'),
    request: {
      query: text('shown 4.4', { isFilter: true }),
      ...corridor,
      ...expansionFilters,
      ...companiesByName,
      is_explain_match: flag('shown 4.4', { default: false }),
      sort_by: text('shown 4.4', { vocabulary: 'expansion_orders' }),
      ...paging,
    },
    answer: expansionRows,
    timeoutMs: 60_000,
    pricedBy: ['is_explain_match'],
  },
  'expansion.lookup': {
    ...common,
    summary: 'market entries by filters that are never loosened',
    method: shown('4.4', 'POST'),
    path: shown('4.4', '/expansions/lookup'),
    request: {
      ...corridor,
      ...expansionFilters,
      ...companiesByName,
      sort_by: text('assumed', { vocabulary: 'expansion_orders' }),
      ...paging,
    },
    answer: expansionRows,
  },
  'expansion.signals': {
    ...common,
    summary: 'the dated signals behind the stage of a company',
    method: shown('4.4', 'POST'),
    path: shown('4.4', '/expansions/signals/search'),
    request: {
      ...corridor,
      ...expansionFilters,
      ...companiesByName,
      ...paging,
    },
    answer: {
      at: assumed('data.signals'),
      without: ['occurs_at', 'occurs_until'],
      rows: { id: assumed('signal_id'), total },
      fields: {
        signal_type: { origin: 'assumed', is: 'string', teaches: 'signal_types' },
        signal_strength: { origin: 'assumed', teaches: 'signal_strengths' },
        freshness: { origin: 'assumed', teaches: 'freshness' },
        polarity: { origin: 'assumed', teaches: 'polarity' },
        domain_search_id: { origin: 'assumed', is: 'string' },
      },
    },
  },
  'expansion.detail': {
    ...common,
    summary: 'the expansion of one company',
    path: assumed('/expansions/detail'),
    request: { ...companyIdentifiers, is_include_metadata: withMetadata },
    oneOf: companyIdentifierNames,
    answer: document,
    pricedBy: ['is_include_metadata'],
  },
  'expansion.compare': {
    ...common,
    summary: 'the expansions of two to ten companies side by side',
    path: assumed('/expansions/compare'),
    request: {
      domain_search_ids: { is: 'texts', origin: 'assumed', isRequired: true, within: [2, 10] },
      is_include_metadata: withMetadata,
    },
    answer: withScore,
    pricedBy: ['is_include_metadata'],
  },
  'expansion.summary': {
    ...common,
    summary: 'the expansion of one company in words; answers 408 when it is not done in time',
    path: assumed('/expansions/summary'),
    request: { ...companyIdentifiers, is_include_metadata: withMetadata },
    oneOf: companyIdentifierNames,
    answer: withScore,
    timeoutMs: 90_000,
    pricedBy: ['is_include_metadata'],
  },
  'expansion.rankings': {
    ...common,
    summary: 'companies ranked by expansion',
    path: assumed('/expansions/rankings'),
    request: {
      domain_search_ids: { is: 'texts', origin: 'shown 4.4', isFilter: true, within: [1, 100] },
      ...corridor,
      ...expansionFilters,
      is_include_metadata: withMetadata,
    },
    answer: withScore,
    pricedBy: ['is_include_metadata'],
  },
} satisfies Family
