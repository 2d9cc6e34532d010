import { contactFields, contactTypes, type ContactType } from './contact-types.ts'
import { usdFromCredits } from './credits.ts'
import {
  contactFieldNames,
  employerProfileFieldNames,
  enrichmentFieldNames,
  matchFieldNames,
  profileFieldNames,
} from './fields.ts'
import type { Atomic } from './money.ts'
import { operations, type ObjectKind, type Operation } from './words.ts'

/** Requests that the service counts and slows down apart from the others. */
export const paces = ['lookup', 'redemption', 'enrichment'] as const
export type Pace = (typeof paces)[number]

/** A value that is one for the whole operation, or one a contact type. */
type PerType<T> = T | Readonly<Record<ContactType, T>>

/** Everything that another part has to know of an operation. */
export interface OperationRow {
  /** The objects whose recipes may have it as a step. */
  stepOf: readonly ObjectKind[]
  /** The subject that its answer is about. To forget that subject is to erase the lookup. */
  about: ObjectKind | null
  /** True where the answer may name people: its subject, or others who are mentioned in it. */
  isPersonal: boolean
  /** By what its key names a subject. */
  keyedBy: readonly ('profile' | 'domain' | 'email' | 'phone' | 'name' | 'id')[]
  /** The subjects whose profiles the answer names: further steps need them. */
  namesProfileOf: readonly ObjectKind[]
  /** `free`: it takes no charge. `unknown`: no price is published, only a challenge or the settings say it. */
  price: PerType<'free' | 'unknown' | Atomic>
  /** True where an API key is charged only for what is found. */
  isChargedWhenFound: boolean
  pace: Pace
  /** The time that its answers stay fresh; `usual`: as long as the settings say for all. */
  freshness: 'usual' | { foundDays: number; notFoundDays: number }
  /** The canonical fields that its answer can fill, by the object of the record. */
  tells: Readonly<Record<ObjectKind, PerType<readonly string[]>>>
  /** Describes the operation in the explanation of a plan: `fetch the logo`. */
  verb: PerType<string>
}

const credit = usdFromCredits(1_000_000n)
const companyFields = profileFieldNames('company')

/** One row an operation. An operation without a row, or a row without a column, does not compile. */
const operationRows = {
  'company.profile': {
    stepOf: ['company', 'person'],
    about: 'company',
    // It lists people who work there.
    isPersonal: true,
    keyedBy: ['profile'],
    namesProfileOf: [],
    price: credit,
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: companyFields, person: employerProfileFieldNames },
    verb: 'look up the company’s profile',
  },
  'person.profile': {
    stepOf: ['person'],
    about: 'person',
    isPersonal: true,
    keyedBy: ['profile'],
    namesProfileOf: ['person', 'company'],
    price: credit,
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: [], person: profileFieldNames('person') },
    verb: 'look up the person’s profile',
  },
  'company.logo': {
    stepOf: ['company', 'person'],
    // Companies that share a website share its logo: to forget one must not reach the others.
    about: null,
    // Its address holds a domain, which may be a person's name.
    isPersonal: true,
    keyedBy: ['domain'],
    namesProfileOf: [],
    price: 'free',
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: ['logo'], person: ['company_logo'] },
    verb: 'fetch the logo',
  },
  'contact.lookup': {
    stepOf: ['person'],
    about: 'person',
    isPersonal: true,
    keyedBy: ['email', 'phone', 'name'],
    namesProfileOf: ['person'],
    price: credit,
    isChargedWhenFound: true,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: [], person: [...matchFieldNames, ...contactFieldNames] },
    verb: 'find the person',
  },
  'contact.redeem': {
    stepOf: ['person'],
    about: 'person',
    isPersonal: true,
    keyedBy: ['profile', 'id'],
    namesProfileOf: [],
    price: { 'email-work': 15n * credit, 'email-personal': 15n * credit, phone: 30n * credit },
    isChargedWhenFound: true,
    pace: 'redemption',
    freshness: 'usual',
    tells: { company: [], person: contactFields },
    verb: {
      'email-work': 'reveal the work e-mail',
      'email-personal': 'reveal the personal e-mail',
      phone: 'reveal the phones',
    },
  },
  'company.lookup': {
    stepOf: ['company'],
    about: 'company',
    isPersonal: true,
    keyedBy: ['domain'],
    namesProfileOf: ['company'],
    price: credit,
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: companyFields, person: [] },
    verb: 'look up the company by its domain',
  },
  'company.enrich': {
    stepOf: ['company'],
    about: 'company',
    isPersonal: true,
    keyedBy: ['profile', 'domain'],
    namesProfileOf: ['company'],
    price: 'unknown',
    isChargedWhenFound: false,
    // An enrichment takes half a minute or more, so its pace says nothing about the others.
    pace: 'enrichment',
    freshness: 'usual',
    tells: { company: [...companyFields, ...enrichmentFieldNames], person: [] },
    verb: 'enrich the company',
  },
  'account.profile': {
    stepOf: [],
    about: null,
    // Fields that are not documented are kept, and may name a person.
    isPersonal: true,
    keyedBy: [],
    namesProfileOf: [],
    price: 'free',
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: [], person: [] },
    verb: 'ask for the account',
  },
} as const satisfies Record<Operation, OperationRow>

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

export const factSlots: readonly FactSlot[] = operations.flatMap(slotsOf)

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
