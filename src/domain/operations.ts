import { contactTypes, type ContactType } from './contact-types.ts'
import type { Atomic } from './money.ts'
import { operationRows, type OperationRow, type PerType } from './operation-rows.ts'
import { operations, type ObjectKind, type Operation } from './words.ts'

export { paces, type OperationRow, type Pace } from './operation-rows.ts'

type Rows = typeof operationRows

/** Operations that a recipe can have as a step. */
export type StepOperation = {
  [O in Operation]: Rows[O]['stepOf'] extends readonly [] ? never : O
}[Operation]

/** Operations that are bought, answered and kept once a contact type. */
type TypedOperation = {
  [O in Operation]: Rows[O]['price'] extends Readonly<Record<ContactType, unknown>> ? O : never
}[Operation]

/** The place of a fact in a plan, and the unit of price: an operation, or one contact type of it. */
export type FactSlot = Exclude<Operation, TypedOperation> | `${TypedOperation}:${ContactType}`

export function operationRow(operation: Operation): OperationRow {
  return operationRows[operation]
}

export function isFreeOperation(operation: Operation): boolean {
  return operationRow(operation).price === 'free'
}

/** Operations that cost nothing: they take no charge, and reports leave them out of what was bought. */
export const freeOperations: readonly Operation[] = operations.filter(isFreeOperation)

export const stepOperations = operations.filter(
  (operation): operation is StepOperation => operationRow(operation).stepOf.length > 0,
)

/** The operations whose answers may name people. */
export const personalOperations: readonly Operation[] = operations.filter(
  (operation) => operationRow(operation).isPersonal,
)

/** Returns the operations whose answers are about a subject of this kind. */
export function operationsAbout(object: ObjectKind): Operation[] {
  return operations.filter((operation) => operationRow(operation).about === object)
}

export function isTypedOperation(operation: Operation): operation is TypedOperation {
  return typeof operationRow(operation).price === 'object'
}

export function slotsOf(operation: Operation): FactSlot[] {
  return isTypedOperation(operation)
    ? contactTypes.map((type) => `${operation}:${type}` as const)
    : [operation as Exclude<Operation, TypedOperation>]
}

/** The slots of steps: those that plans and price lists name. */
export const factSlots: readonly FactSlot[] = stepOperations.flatMap(slotsOf)

export interface SlotRow {
  operation: Operation
  price: 'free' | 'unknown' | Atomic
  isChargedWhenFound: boolean
  tells: Readonly<Record<ObjectKind, readonly string[]>>
  verb: string
}

/** Returns what an operation's row says of one slot. */
export function slotRow(slot: FactSlot): SlotRow {
  const [operation, type] = slot.split(':') as [Operation, ContactType | undefined]
  const { price, isChargedWhenFound, tells, verb } = operationRow(operation)
  const one = <T extends string | bigint | readonly string[]>(value: PerType<T>): T =>
    typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, T>)[type ?? '']!
      : (value as T)
  return {
    operation,
    price: one(price),
    isChargedWhenFound,
    tells: { company: one(tells.company), person: one(tells.person) },
    verb: one(verb),
  }
}
