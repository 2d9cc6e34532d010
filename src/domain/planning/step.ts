import { isContactType } from '../contact-types.ts'
import type { ClosedFields } from './could-write.ts'
import type { JobChange } from './job-change.ts'
import type { LookupKey } from '../keys.ts'
import type { Atomic } from '../money.ts'
import { isTypedOperation, type FactSlot } from '../operations.ts'
import type { Fact, FieldValue, Identity, LookupRequest } from '../record.ts'
import type { ObjectKind, Operation } from '../words.ts'

/** A lookup to buy or to fetch for free. `request` is the body that the endpoint will send. */
export interface LookupWanted {
  key: LookupKey
  operation: Operation
  request: LookupRequest
}

/** A record as its task has it. */
export interface PlannedRecord {
  object: ObjectKind
  identity: Identity
  /** The record's values by canonical field, where they are known. */
  values?: Readonly<Record<string, FieldValue>>
  /** The fields to which nothing could be written: no step is taken for them. Absent where that is not known. */
  closed?: ClosedFields | undefined
}

export type { FactSlot }
export type Facts = Partial<Record<FactSlot, Fact>>

/** The most that each step costs. A step that is not in the table has no known price. */
export type PriceTable = Partial<Record<FactSlot, Atomic>>

export type Stop = { kind: 'stop'; status: 'unchanged' | 'skipped' | 'rejected'; reason: string }

export type Step =
  | { kind: 'lookup'; lookup: LookupWanted; why: string }
  | {
      kind: 'write'
      values: Record<string, FieldValue>
      /** The reason why planning ended before every wanted field was answered. */
      reason?: string
      jobChange?: JobChange
    }
  | Stop

/** A lookup that would answer more, and why it is wanted. */
export interface Candidate {
  lookup: LookupWanted
  why: string
}

/** The lookups that the facts so far lead to. */
export interface Candidates {
  /** The lookups that may come next, the cheapest sufficient one first. */
  candidates: Candidate[]
  values: Record<string, FieldValue>
  /** The end of the task when no candidate is left and no value is known. */
  end: Stop
  /** Set when a lookup failed and values are known all the same. */
  problem?: string
  /** By field: why a value of an answer is none of its kind and is not used. */
  leftOut?: Readonly<Record<string, string>>
}

/** Returns the slot of a lookup's fact. Throws RangeError for a redemption's key that names no contact type. */
export function slotOf(key: LookupKey): FactSlot {
  const slot = slotIn(key)
  if (slot === undefined) throw new RangeError('a redemption without its contact type')
  return slot
}

/** The same, and undefined for a redemption's key that names no contact type: that of a forgotten subject. */
export function slotIn(key: LookupKey): FactSlot | undefined {
  const operation = key.slice(0, key.indexOf('|')) as Operation
  if (!isTypedOperation(operation)) return operation
  const type = key.slice(key.lastIndexOf('|') + 1)
  return isContactType(type) ? `${operation}:${type}` : undefined
}

export function stop(status: Stop['status'], reason: string): Stop {
  return { kind: 'stop', status, reason }
}

/** Returns how a task ends whose last answer is this one and has no values. */
export function endOf(fact: Fact): Stop {
  if (fact.outcome === 'not_found') return stop('unchanged', 'not found by the service')
  if (fact.outcome === 'unreadable')
    return stop('rejected', 'the answer could not be read; it is kept in the ledger')
  if (fact.outcome !== 'found' || !fact.data) return stop('rejected', fact.reason ?? 'the lookup failed')
  return stop('unchanged', 'the answer has no values')
}

/** Returns the data of an answer that found its subject. */
export function foundIn(fact: Fact | undefined): Record<string, unknown> | undefined {
  return fact?.outcome === 'found' ? (fact.data ?? undefined) : undefined
}
