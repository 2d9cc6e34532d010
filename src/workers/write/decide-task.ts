import type { CurrentRecord } from '../../domain/field-policy/current-record.ts'
import { blockedFields } from '../../domain/field-policy/blocked-values.ts'
import type { FieldRule } from '../../domain/field-policy/field-policy.ts'
import { decideWrite, type WriteDecision } from '../../domain/field-policy/write-decision.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { FieldValue, Identity, Patch } from '../../domain/record.ts'
import { namesAnotherSubject } from '../../domain/subjects/another-subject.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { WriteHistory, WroteValue } from '../../store/writes/write-intents.ts'
import { placeable, type RecordForm } from './record-form.ts'

/** The values that were found for a record, and the lookups that they come from. */
interface FoundValues {
  /** The task that would write them; undefined in a plan, which has no attempt before it. */
  id?: bigint | undefined
  recordId: string
  identity: Identity
  steps: readonly LookupKey[]
  patch: Patch
}

interface DecideTaskBy {
  object: ObjectKind
  /** Undefined for a source that keeps no values. */
  form: RecordForm | undefined
  history: WriteHistory
  rule: (field: string) => FieldRule
  hosts: readonly string[] | undefined
}

export interface DecidedTask {
  /** The values that the record has a place for. */
  patch: Patch
  decision: WriteDecision
  /** The values as the record will show them; a value that does not fit its field is not among them. */
  standing: Record<string, FieldValue>
}

/**
 * Decides which of the values found are written over a record's current ones. The write, a plan and `explain` ask this one
 * function, so that none promises what another leaves out.
 */
export function decideTask(
  found: FoundValues,
  record: CurrentRecord | undefined,
  { object, form, history, rule, hosts }: DecideTaskBy,
): DecidedTask {
  const { id, recordId } = found
  const patch = form ? placeable(found.patch, form, rule) : found.patch
  const standing = form?.standing(patch)
  const blocked =
    form && standing
      ? blockedFields(history.blocked.get(recordId) ?? [], {
          proposed: patch,
          standing,
          rule,
          mapping: form.mapping,
        })
      : undefined
  const decision = decideWrite({ patch }, record, {
    ours: history.ours.get(recordId) ?? {},
    open: id === undefined ? [] : (history.open.get(id) ?? []),
    rule,
    standing,
    blocked,
    isAnother: isAnother(found, record, { object, wrote: history.wrote.get(recordId) ?? [], hosts }),
  })
  return { patch, decision, standing: standing ?? {} }
}

/** A source that does not say what identifies its records names no one else. */
function isAnother(
  { identity, patch, steps }: FoundValues,
  record: CurrentRecord | undefined,
  {
    object,
    wrote,
    hosts,
  }: { object: ObjectKind; wrote: readonly WroteValue[]; hosts: readonly string[] | undefined },
): boolean {
  if (record?.state !== 'present' || !record.identity) return false
  const country = record.values['country_code']
  return namesAnotherSubject({
    object,
    steps,
    asked: identity,
    now: record.identity,
    known: [
      ...wrote,
      ...Object.entries(patch).flatMap(([field, change]) =>
        'set' in change ? [{ field, value: change.set }] : [],
      ),
    ],
    country: typeof country === 'string' ? country : undefined,
    hosts,
  })
}
