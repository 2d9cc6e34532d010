import { operationRow } from '../../domain/operations.ts'
import { fieldNames } from './answer-fields.ts'
import type { Contract } from './catalogue.ts'
import { wholeAnswer, type AnswerField } from './entry.ts'

const metadataTypes = {
  metadata: 'object',
  'metadata.profile': 'object',
  'metadata.profile.credit': 'number',
  'metadata.profile.topup_credit': 'number',
  'metadata.profile.total_credit_cost': 'number',
  'metadata.ignored_fields': 'array',
  'metadata.renamed_fields': null,
} as const

const ofAdvertisements = fieldNames('shown 2.3', {
  'metadata.applied_source_types': null,
  'metadata.unsupported_source_types': null,
  'metadata.coverage_notes': null,
  'metadata.skipped_source_types': null,
})

/** Searches whose answers have a `pagination`, as the description says; of others it is assumed. */
const paginated: readonly string[] = ['job.search', 'news.search', 'advertisement.search']

/** Returns the fields that stand beside the rows or the document of an answer, by their path in the whole answer. */
export function envelopeOf({ operation, answer }: Contract): Readonly<Record<string, AnswerField>> {
  if (operation === 'company.profile' || operation === 'person.profile' || operation === 'company.logo')
    return {}
  const { at, rows } = answer
  if (rows && at.value === wholeAnswer) return {}
  // The description has these pieces for searches and enrichments.
  const isSaid = operationRow(operation).kind === 'search' || operation === 'company.enrich'
  const metadata = fieldNames(isSaid ? 'shown 2.3' : 'assumed', metadataTypes)
  if (!rows) return metadata
  const pagination = rows.total.value.split('.').slice(0, -1).join('.')
  return {
    ...metadata,
    ...(operation === 'advertisement.search' ? ofAdvertisements : {}),
    ...(pagination === ''
      ? {}
      : { [pagination]: { origin: paginated.includes(operation) ? 'shown 2.3' : 'assumed', is: 'object' } }),
  }
}
