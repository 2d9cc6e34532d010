import { creating } from '../../../domain/mapping/creating.ts'
import type { EntityMapping } from '../../../domain/mapping/mapping.ts'
import type { CreateResult } from '../../creating.ts'
import type { Matches, SaveError } from '../api/answers.ts'
import type { Outcome } from '../api/collections.ts'
import type { DescribedObject } from '../api/schema-cache.ts'
import { longId } from '../ids.ts'
import { readSaveError } from '../save-error.ts'
import type { MakerDeps } from './deps.ts'
import type { Prepared } from './draft.ts'

/** Another unique field of the org has the value already: the message names field and record. */
export function ofOtherField(draft: Prepared, error: SaveError): CreateResult {
  const [, field, found] =
    /duplicates? value found: (\S+) duplicates value on record with id: (\w{15,18})/i.exec(error.message) ??
    []
  const id = found === undefined ? undefined : longId(found)
  return {
    key: draft.key,
    status: 'exists',
    ids: id === undefined ? [] : [id],
    reason: `another record has the same value in ${field === undefined || field === '<unknown>' ? 'a unique field' : field}`,
  }
}

export function resultOf(
  { mapping }: MakerDeps,
  object: DescribedObject,
  { key, leftOut }: Prepared,
  outcome: Outcome,
): CreateResult {
  if (outcome.kind === 'done' && outcome.id !== undefined)
    return { key, status: 'created', id: outcome.id, ...(leftOut.length > 0 ? { leftOut } : {}) }
  if (outcome.kind === 'deferred')
    return { key, status: 'retry', afterMs: outcome.afterMs, reason: outcome.reason }
  if (outcome.kind !== 'failed')
    return { key, status: 'retry', afterMs: 60_000, reason: 'Salesforce returned no id for the record' }
  const refusal = readSaveError('', outcome.error, creating(mapping.entities[object.name] as EntityMapping))
  if (refusal.status === 'retry')
    return { key, status: 'retry', afterMs: refusal.afterMs, reason: refusal.reason }
  // There is no record yet that could be gone: what is gone is the owner or the account that it names.
  const isGone = refusal.status === 'skipped'
  return {
    key,
    status: 'rejected',
    code: outcome.error.statusCode,
    ...(!isGone && refusal.field !== undefined ? { field: refusal.field } : {}),
    reason: isGone ? 'a record that it refers to is gone' : refusal.reason,
  }
}

/** The verdict of a duplicate rule. A rule may find records of another object: a lead may be a contact already. */
export function existing(
  key: string,
  matches: Matches | undefined,
  { name, keyPrefix }: DescribedObject,
): CreateResult {
  const found = [
    ...new Map(
      (matches?.matchResults ?? []).flatMap(({ entityType = name, matchRecords }) =>
        matchRecords.map(({ record }) => [record.Id, entityType] as const),
      ),
    ),
  ]
  const ids = found.filter(([id]) => id.startsWith(keyPrefix)).map(([id]) => id)
  const others = found.filter(([id]) => !ids.includes(id)).map(([id, type]) => `${type} ${id}`)
  const rule =
    matches?.duplicateRule === undefined ? 'a duplicate rule' : `the duplicate rule ${matches.duplicateRule}`
  return {
    key,
    status: 'exists',
    ids,
    reason: `${rule} of the org finds it${others.length > 0 ? `: ${others.join(', ')}` : ''}`,
  }
}
