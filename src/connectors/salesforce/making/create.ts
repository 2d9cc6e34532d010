import { PaydirtError, RetriableError } from '../../../domain/errors.ts'
import type { CreateResult, RecordDraft } from '../../creating.ts'
import { collectionSize, insertCollection, type Outcome } from '../api/collections.ts'
import { isStaleSchema, type DescribedObject } from '../api/schema-cache.ts'
import { chunk } from '../read.ts'
import { keyFieldOf, prepareDraft, type Prepared } from './draft.ts'
import { nameMatches } from './duplicates.ts'
import { existing, ofOtherField, resultOf } from './results.ts'
import { findByKey } from './keys.ts'
import type { MakerDeps } from './deps.ts'

/**
 * Makes each draft once, 200 a call. A draft is inserted with our key in a unique field and never upserted: an upsert that meets
 * a record writes its values over what people have edited since, while an insertion that meets one is refused with its id.
 *
 * Crash windows:
 * - Before the request: nothing was made. The draft comes again as a repeat, its key is not found, it is made.
 * - After Salesforce has made it, before its answer is stored: the repeat finds the record by its key, and leaves it as it is.
 * - While Salesforce still works on the first request: the second waits for the unique index, and is refused with the id.
 * The org's duplicate rules run before the index is asked, so that they may find the record of the first attempt: a draft that
 * they refuse is looked up by its key before it counts as somebody else's.
 *
 * The failure of a whole request is thrown while nothing was made. After that it makes the rest `retry`.
 */
export async function createRecords(
  deps: MakerDeps,
  entity: string,
  drafts: readonly RecordDraft[],
): Promise<CreateResult[]> {
  const results: (CreateResult | undefined)[] = drafts.map(() => undefined)
  for (const isLastRound of [false, true]) {
    try {
      await createRound(deps, entity, drafts, results)
      break
    } catch (error) {
      if (!isLastRound && isStaleSchema(error)) {
        // A described field has been removed since: describe again, and leave it out.
        deps.schema.forget(entity)
        continue
      }
      if (!results.some((result) => result?.status === 'created') || !(error instanceof PaydirtError))
        throw error
      const afterMs = (error instanceof RetriableError ? error.retryAfterMs : undefined) ?? 60_000
      drafts.forEach(({ key }, index) => {
        results[index] ??= { key, status: 'retry', afterMs, reason: error.message }
      })
      break
    }
  }
  return results.map((result, index) => {
    if (!result) throw new Error(`draft ${index} was left without a result`)
    return result
  })
}

async function createRound(
  deps: MakerDeps,
  entity: string,
  drafts: readonly RecordDraft[],
  results: (CreateResult | undefined)[],
): Promise<void> {
  const object = await deps.schema.describe(entity)
  const keyField = keyFieldOf(deps.mapping, entity, object)
  const repeats = drafts.filter(({ isRepeat }, index) => isRepeat === true && results[index] === undefined)
  const there = await findByKey(
    deps.client,
    object,
    keyField,
    repeats.map(({ key }) => key),
  )
  const firsts = new Map<string, number>()
  const prepared = drafts.flatMap((draft, index): Prepared[] => {
    if (results[index]) return []
    const id = there.get(draft.key.toLowerCase())
    if (id !== undefined) {
      results[index] = { key: draft.key, status: 'present', id }
      return []
    }
    // The record of a second draft with the same key is that of the first.
    if (firsts.has(draft.key.toLowerCase())) return []
    firsts.set(draft.key.toLowerCase(), index)
    const ready = prepareDraft(draft, index, keyField, deps.mapping, object, deps.now())
    if ('body' in ready) return [ready]
    results[index] = ready
    return []
  })
  // The header for assignment rules is one of the request: they must not move a record that was given its owner.
  for (const [isOwned, group] of Map.groupBy(prepared, ({ body }) => body['OwnerId'] !== undefined))
    for (const part of chunk(group, collectionSize))
      await createPart(deps, object, keyField, part, isOwned ? false : deps.autoAssign, results)
  drafts.forEach(({ key }, index) => {
    const first = firsts.get(key.toLowerCase())
    const result = first === undefined ? undefined : results[first]
    if (results[index] || !result) return
    results[index] =
      result.status === 'created' ? { key, status: 'present', id: result.id } : { ...result, key }
  })
}

async function createPart(
  deps: MakerDeps,
  object: DescribedObject,
  keyField: string,
  part: readonly Prepared[],
  autoAssign: boolean | string | undefined,
  results: (CreateResult | undefined)[],
): Promise<void> {
  const headers = { allowDuplicates: false, autoAssign }
  const outcomes = await deps.inTurn(() => insertCollection(deps.client, object.name, part, headers))
  const refused: Prepared[] = []
  part.forEach((draft, at) => {
    const outcome = outcomes[at] as Outcome
    const isTwice = outcome.kind === 'failed' && twice.has(outcome.error.statusCode)
    if (isTwice) refused.push(draft)
    else results[draft.index] = resultOf(deps, object, draft, outcome)
  })
  const there = await findByKey(
    deps.client,
    object,
    keyField,
    refused.map(({ key }) => key),
  )
  const matched: Prepared[] = []
  for (const draft of refused) {
    const { error } = outcomes[part.indexOf(draft)] as Extract<Outcome, { kind: 'failed' }>
    const id = there.get(draft.key.toLowerCase())
    if (id !== undefined) results[draft.index] = { key: draft.key, status: 'present', id }
    else if (error.statusCode === 'DUPLICATES_DETECTED') matched.push(draft)
    else results[draft.index] = ofOtherField(draft, error)
  }
  const named = await nameMatches(deps, object, matched, headers)
  for (const [at, draft] of matched.entries())
    results[draft.index] = named[at] ?? existing(draft.key, undefined, object)
}

const twice: ReadonlySet<string> = new Set(['DUPLICATES_DETECTED', 'DUPLICATE_VALUE'])
