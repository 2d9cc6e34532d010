import { contactFieldNames, employerProfileFieldNames } from '../fields.ts'
import { canonicalEmail, companyDomainOf } from '../normalise/email.ts'
import { slotRow, slotsOf } from '../operations.ts'
import type { ObjectKind, Operation } from '../words.ts'
import type { ClosedFields, ClosedReason } from './could-write.ts'
import type { Recipe } from './recipes.ts'
import type { PlannedRecord } from './step.ts'

/**
 * Returns the fields of a recipe that a step may be taken for: a step of the recipe can tell them, they could be written to
 * this record, and the record does not have them already. A step that tells none of them is never taken.
 */
export function wantedFields(record: PlannedRecord, { fields, steps }: Recipe): string[] {
  const { object, closed = {} } = record
  const told = toldBy(object, steps)
  const open = fields.filter((field) => told.has(field) && !Object.hasOwn(closed, field))
  if (object === 'company') return open
  const lacked = open.filter((field) => !hasContact(field, record))
  // A landline has no place in a mobile's field, and its kind is not known before it is paid for.
  const mobileAlone = fields.includes('phone') && !lacked.includes('phone')
  return mobileAlone ? lacked.filter((field) => field !== 'mobile_phone') : lacked
}

/** A recipe's steps are the same for all of its records. */
const toldBySteps = new WeakMap<readonly Operation[], Map<ObjectKind, ReadonlySet<string>>>()

/** Returns the fields that the steps can tell together. */
function toldBy(object: ObjectKind, steps: readonly Operation[]): ReadonlySet<string> {
  let known = toldBySteps.get(steps)
  if (!known) toldBySteps.set(steps, (known = new Map()))
  const told = known.get(object) ?? tellingTogether(object, steps)
  known.set(object, told)
  return told
}

/** Some steps need the answer of another before them. */
function tellingTogether(object: ObjectKind, steps: readonly Operation[]): ReadonlySet<string> {
  const has = (operation: Operation) => steps.includes(operation)
  const told = new Set(
    steps.flatMap((operation) => slotsOf(operation).flatMap((slot) => slotRow(slot).tells[object])),
  )
  const drop = (names: readonly string[]) => names.forEach((name) => told.delete(name))
  if (object === 'company') return told
  // Only the person's profile names the employer's, and only the employer's has the logo's domain.
  if (!has('person.profile')) drop(employerProfileFieldNames)
  if (!has('person.profile') || !has('company.profile')) drop(['company_logo'])
  return told
}

/** Returns whether the record has an e-mail or phone already, in this field or in another that identifies it. */
function hasContact(field: string, { identity, values, closed }: PlannedRecord): boolean {
  if (contactFieldNames.some((name) => name === field) && values?.[field] !== undefined) return true
  switch (field) {
    case 'email':
      return identity.email !== undefined
    case 'email_personal':
      return (
        identity.email !== undefined && canonicalEmail(identity.email).ok && !companyDomainOf(identity.email)
      )
    case 'phone':
      return identity.phone !== undefined
    case 'mobile_phone':
      // Without the record's values, an identifying phone may be in either of the two phone fields.
      return closed === undefined && values === undefined && identity.phone !== undefined
    default:
      return false
  }
}

/**
 * Returns the record with its undone fields open. The service may say something else by now: what it says is looked at where
 * that costs nothing. Undefined for a record without such fields.
 */
export function withUndoneOpen(record: PlannedRecord): PlannedRecord | undefined {
  const closed = record.closed ?? {}
  if (!Object.values(closed).includes('undone')) return undefined
  const kept = Object.entries(closed).filter(([, why]) => why !== 'undone')
  return { ...record, closed: Object.fromEntries(kept) }
}

/** Returns the words for a record of which nothing could be written, as its task's reason. */
export function nothingOpen(closed: ClosedFields, { fields }: Recipe): string {
  const shut = fields.filter((field) => Object.hasOwn(closed, field))
  return shut.length === 0
    ? 'the record lacks nothing that the recipe wants and may buy'
    : `nothing that the recipe tells could be written: ${closedText(closed, shut)}`
}

/** The reasons why fields are closed, in words. In the order of reports. */
export const closedWords: Readonly<Record<ClosedReason, string>> = {
  filled: 'filled already',
  edited: 'edited by a person',
  undone: 'undone before',
  never: 'never written by policy',
  not_mapped: 'without a place in the mapping',
  shared: 'with the property of another field',
  no_property: 'missing in the account',
  read_only: 'read-only in the account',
  wrong_type: 'of a type that cannot hold it',
}
const phrases = Object.entries(closedWords)

interface LeftOut {
  field: string
  why: ClosedReason
  records: number
}

/**
 * Returns, as sentences, the fields for which nothing is bought, with the number of records: those that records have already, and
 * those that could not be written. Nothing is written into a file, whose output has an answer's value in a column beside the row's own.
 */
export function leftOutLines(leftOut: readonly LeftOut[], connector: string): string[] {
  const had = leftOut.filter(({ why }) => why === 'filled')
  const shut = leftOut.filter(({ why }) => why !== 'filled')
  const beside =
    connector === 'csv'
      ? '. Where an answer bought for others tells them too, its value is in a column beside yours and does not count as filled'
      : ''
  return [
    ...(had.length > 0
      ? [
          `no reason to buy, because the ${connector === 'csv' ? 'rows' : 'records'} have them: ${listed(had)}${beside}`,
        ]
      : []),
    ...(shut.length > 0 ? [`not bought, because it could not be written: ${leftOutText(shut)}`] : []),
  ]
}

function listed(fields: readonly LeftOut[]): string {
  return fields.map(({ field, records }) => `${field} (${records})`).join(', ')
}

/** Returns fields by why nothing was bought for them, with the number of records, in words. */
function leftOutText(leftOut: readonly LeftOut[]): string {
  return phrases
    .flatMap(([why, words]) => {
      const named = leftOut.filter((each) => each.why === why)
      return named.length > 0 ? [`${words}: ${listed(named)}`] : []
    })
    .join('; ')
}

/** Returns the fields by why they are closed, in words. */
export function closedText(closed: ClosedFields, fields: readonly string[] = Object.keys(closed)): string {
  return phrases
    .flatMap(([why, words]) => {
      const named = fields.filter((field) => closed[field] === why)
      return named.length > 0 ? [`${words}: ${named.join(', ')}`] : []
    })
    .join('; ')
}
