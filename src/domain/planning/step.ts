import { isContactType } from '../contact-types.ts'
import type { JobChange } from './job-change.ts'
import type { LookupKey } from '../keys.ts'
import type { Atomic } from '../money.ts'
import { isTypedOperation, type FactSlot } from '../operations.ts'
import type { Fact, FieldValue, Identity, LookupRequest } from '../record.ts'
import type { ObjectKind, Operation } from '../words.ts'

/** A unit of work to buy (or to fetch for nothing). `request` is the body that the endpoint will send. */
export interface LookupWanted {
  key: LookupKey
  operation: Operation
  request: LookupRequest
}

/** What is planned for: a record as the task holds it. */
export interface PlannedRecord {
  object: ObjectKind
  identity: Identity
  /** What stands in the record, by canonical field, where that is known: contact data that is there is not bought. */
  values?: Readonly<Record<string, FieldValue>>
}

export type { FactSlot }
export type Facts = Partial<Record<FactSlot, Fact>>

/** The most that a step costs. A step that is not in it has a price that nobody knows. */
export type PriceTable = Partial<Record<FactSlot, Atomic>>

export type Stop = { kind: 'stop'; status: 'unchanged' | 'skipped' | 'rejected'; reason: string }

export type Step =
  | { kind: 'lookup'; lookup: LookupWanted; why: string }
  | {
      kind: 'write'
      values: Record<string, FieldValue>
      /** Why no more was found out, where more was wanted. */
      reason?: string
      jobChange?: JobChange
    }
  | Stop

/** A lookup that would tell more, and why. */
export interface Candidate {
  lookup: LookupWanted
  why: string
}

/** What the facts so far come to: what may be asked next (the cheapest sufficient first), what is known, and how it ends. */
export interface Candidates {
  wishes: Candidate[]
  values: Record<string, FieldValue>
  /** How the task ends when nothing is left to ask and nothing is known. */
  end: Stop
  /** What went wrong on the way, though something is known. */
  problem?: string
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

/** How a task ends whose only answer is this one and holds no values. */
export function endOf(fact: Fact): Stop {
  if (fact.outcome === 'not_found') return stop('unchanged', 'not found by the service')
  if (fact.outcome === 'unreadable')
    return stop('rejected', 'the answer could not be read; it is kept in the ledger')
  if (fact.outcome !== 'found' || !fact.data) return stop('rejected', fact.reason ?? 'the lookup failed')
  return stop('unchanged', 'the answer holds no values')
}

/** The data of an answer that found something. */
export function foundIn(fact: Fact | undefined): Record<string, unknown> | undefined {
  return fact?.outcome === 'found' ? (fact.data ?? undefined) : undefined
}
