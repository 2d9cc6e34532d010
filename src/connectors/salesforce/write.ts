import { setTimeout as delay } from 'node:timers/promises'
import { PaydirtError, RetriableError } from '../../domain/errors.ts'
import type { CrmMapping, EntityMapping } from '../../domain/mapping/mapping.ts'
import type { LeftOut, RecordPatch, WriteResult } from '../connector.ts'
import { fitsBulk, toJobs, updateByBulk, type BulkOptions } from './api/bulk.ts'
import type { SalesforceClient } from './api/client.ts'
import {
  collectionSize,
  updateCollection,
  type Outcome,
  type Update,
  type WriteHeaders,
} from './api/collections.ts'
import { fitPatch, stampOf } from './fit.ts'
import { longId } from './ids.ts'
import { withPlaceCodes } from './place-codes.ts'
import { chunk } from './read.ts'
import { isRowLock, readSaveError } from './save-error.ts'
import { isStaleSchema, type DescribedObject, type SchemaCache } from './api/schema-cache.ts'

export interface WriteDeps {
  client: SalesforceClient
  schema: SchemaCache
  mapping: CrmMapping
  headers: WriteHeaders
  /** From this many records on, a bulk job writes them. */
  bulkThreshold: number
  bulk: BulkOptions
  /** Returns the account of a contact, where it is known. */
  accountOf: (contactId: string) => string | undefined
  /** Returns the name under which a scan reads a property. Default: the same. */
  nameInScan?: (property: string) => string
  /** Returns the country of a record, where it is known. */
  countryOf: (id: string) => string | undefined
  /** Sends a collection when no other of the object is under way. */
  inTurn: <T>(send: () => Promise<T>) => Promise<T>
  now: () => number
  random: () => number
  wait?: (ms: number) => Promise<void>
}

interface Planned extends Update {
  leftOut: LeftOut[]
}

interface Writing extends WriteDeps {
  sobject: string
  isLastRound: boolean
  settle: (update: Planned, outcome: Settled) => void
}

type Settled = Exclude<Outcome, { kind: 'unsent' }>

const lockTries = 4
const firstLockPauseMs = 250

/**
 * Writes patches: fits each to its fields, sends them as collections of 200, one after another, or as a bulk job, and
 * sends locked rows again, alone. Returns one result for each patch, in order.
 *
 * The failure of a whole request is thrown when nothing was written before it. After that it makes the rest `retry`, so
 * that the results of what was written are not lost.
 */
export async function writeRecords(
  deps: WriteDeps,
  sobject: string,
  patches: readonly RecordPatch[],
): Promise<WriteResult[]> {
  const results: (WriteResult | undefined)[] = patches.map(() => undefined)
  for (const isLastRound of [false, true]) {
    try {
      await writeRound(deps, sobject, patches, results, isLastRound)
      break
    } catch (error) {
      if (!isLastRound && isStaleSchema(error)) {
        // A described field has been removed since: describe again, and leave it out.
        deps.schema.forget(sobject)
        continue
      }
      const isAnyWritten = results.some((result) => result?.status === 'written')
      if (!isAnyWritten || !(error instanceof PaydirtError)) throw error
      patches.forEach(({ id }, index) => (results[index] ??= later(id, error)))
      break
    }
  }
  return results.map((result, index) => {
    if (!result) throw new Error(`patch ${index} was left without a result`)
    return result
  })
}

async function writeRound(
  deps: WriteDeps,
  sobject: string,
  patches: readonly RecordPatch[],
  results: (WriteResult | undefined)[],
  isLastRound: boolean,
): Promise<void> {
  const object = await deps.schema.describe(sobject)
  const mapping = withPlaceCodes(deps.mapping.entities[sobject] as EntityMapping, object)
  const planned = plan(deps, object, mapping, patches, results)
  const settle = ({ index, leftOut }: Planned, outcome: Settled): void => {
    const { id } = patches[index] as RecordPatch
    if (outcome.kind === 'done')
      results[index] = { id, status: 'written', ...(leftOut.length > 0 ? { leftOut } : {}) }
    else if (outcome.kind === 'failed') results[index] = readSaveError(id, outcome.error, mapping)
    else results[index] = { id, status: 'retry', afterMs: outcome.afterMs, reason: outcome.reason }
  }
  const writing: Writing = { ...deps, sobject, isLastRound, settle }
  for (const wave of waves(planned, deps.accountOf)) await writeWave(writing, wave)
}

/** Returns what to send for each patch without a result. A patch that needs no sending gets its result here. */
function plan(
  deps: WriteDeps,
  object: DescribedObject,
  mapping: EntityMapping,
  patches: readonly RecordPatch[],
  results: (WriteResult | undefined)[],
): Planned[] {
  const sobject = object.name
  const effective = { own: deps.mapping.own, entities: { [sobject]: mapping } }
  return patches.flatMap(({ id, patch, own }, index): Planned[] => {
    if (results[index]) return []
    const long = longId(id, object.keyPrefix)
    const { body, leftOut } = fitPatch(patch, mapping, object, deps.countryOf(id))
    const [first] = leftOut
    if (long === undefined)
      results[index] = { id, status: 'skipped', reason: `it is not the id of a record of ${sobject}` }
    else if (Object.keys(body).length > 0) {
      const stamp = stampOf(body, effective, sobject, object, deps.now(), own, deps.nameInScan)
      return [{ index, id: long, body: { ...body, ...stamp }, leftOut }]
    } else if (first) {
      results[index] = { id, status: 'rejected', ...first, unsent: true }
    } else results[index] = { id, status: 'unchanged' }
    return []
  })
}

/**
 * Splits updates into waves: one request must not name a record twice, so a second patch of a record is in a second
 * wave. Contacts of one account are kept together, since writing a contact locks its account.
 */
function waves(planned: readonly Planned[], accountOf: WriteDeps['accountOf']): Planned[][] {
  const seen = new Map<string, number>()
  const all: Planned[][] = []
  for (const update of planned) {
    const wave = seen.get(update.id) ?? 0
    seen.set(update.id, wave + 1)
    ;(all[wave] ??= []).push(update)
  }
  return all.map((wave) =>
    wave
      .map((update) => ({ update, account: accountOf(update.id) ?? '' }))
      .sort((a, b) =>
        a.account < b.account ? -1 : a.account > b.account ? 1 : a.update.index - b.update.index,
      )
      .map(({ update }) => update),
  )
}

async function writeWave(writing: Writing, updates: readonly Planned[]): Promise<void> {
  const isBulky = isBulk(writing, updates.length)
  const bulky = isBulky ? updates.filter(({ body }) => fitsBulk(body)) : []
  const single = isBulky ? updates.filter(({ body }) => !fitsBulk(body)) : updates
  let locked: Planned[] = []
  for (const job of toJobs(bulky, writing.bulk)) {
    const outcomes = await updateByBulk(writing.client, writing.sobject, job, {
      ...writing.bulk,
      now: writing.now,
      ...(writing.wait ? { wait: writing.wait } : {}),
    })
    const isForAgain = (outcome: Outcome): boolean => isLock(outcome) || isDuplicate(writing, outcome)
    locked.push(...settleAll(writing, job.updates, outcomes, isForAgain))
  }
  for (const part of chunk(single, collectionSize)) locked.push(...(await writePart(writing, part)))
  for (let attempt = 1; locked.length > 0; attempt++) {
    await pause(writing, attempt)
    const parts = chunk(locked, collectionSize)
    locked = []
    for (const part of parts) locked.push(...(await writePart(writing, part, attempt >= lockTries)))
  }
}

/** Sends one collection. Returns the rows that were locked, to be sent again. */
async function writePart(writing: Writing, part: readonly Planned[], isLastTry = false): Promise<Planned[]> {
  let outcomes: Outcome[]
  try {
    outcomes = await writing.inTurn(() =>
      updateCollection(writing.client, writing.sobject, part, writing.headers),
    )
  } catch (error) {
    if (!writing.isLastRound || !isStaleSchema(error)) throw error
    const { errorCode: statusCode, said: message } = error
    outcomes = part.map(() => ({ kind: 'failed', error: { statusCode, message, fields: [] } }))
  }
  return settleAll(writing, part, outcomes, (outcome) => !isLastTry && isLock(outcome))
}

function settleAll(
  { settle }: Writing,
  updates: readonly Planned[],
  outcomes: readonly Outcome[],
  isForAgain: (outcome: Outcome) => boolean,
): Planned[] {
  return updates.filter((update, at) => {
    const outcome = outcomes[at] as Outcome
    if (outcome.kind === 'unsent' || isForAgain(outcome)) return true
    settle(update, outcome)
    return false
  })
}

/** Bulk jobs have no header for assignment: with one, leads go as collections. */
function isBulk({ bulkThreshold, headers, sobject }: Writing, count: number): boolean {
  return count >= bulkThreshold && !(sobject === 'Lead' && headers.autoAssign)
}

/**
 * Bulk jobs have no header for duplicates either: rows that the header would let pass are sent again as collections.
 */
function isDuplicate({ headers }: Writing, outcome: Outcome): boolean {
  return (
    headers.allowDuplicates === true &&
    outcome.kind === 'failed' &&
    outcome.error.statusCode === 'DUPLICATES_DETECTED'
  )
}

function isLock(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && isRowLock(outcome.error)
}

/** Random, so that two writers that collided do not collide again. */
async function pause({ random, wait = (ms) => delay(ms) }: Writing, attempt: number): Promise<void> {
  await wait(Math.round(firstLockPauseMs * 2 ** (attempt - 1) * (0.5 + random())))
}

function later(id: string, error: PaydirtError): WriteResult {
  const afterMs = (error instanceof RetriableError ? error.retryAfterMs : undefined) ?? 60_000
  return { id, status: 'retry', afterMs, reason: error.message }
}
