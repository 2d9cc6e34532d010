import { fieldNames } from '../fields.ts'
import { jobChangeOf } from './job-change.ts'
import type { LookupKey } from '../keys.ts'
import { formatUsd, type Atomic } from '../money.ts'
import { companyCandidates } from './company.ts'
import { personCandidates } from './person.ts'
import {
  slotOf,
  stop,
  type Facts,
  type FactSlot,
  type PlannedRecord,
  type PriceTable,
  type Step,
  type Candidates,
  type Candidate,
} from './step.ts'
import { defaultPrices, isFreeSlot } from './prices.ts'
import type { Recipe } from './recipes.ts'
import { nothingOpen, wantedFields, withUndoneOpen } from './wanted-fields.ts'
import type { FieldValue } from '../record.ts'
import type { ObjectKind } from '../words.ts'

export { recipes, type Recipe } from './recipes.ts'
export { slotOf } from './step.ts'
export type { Facts, FactSlot, LookupWanted, PlannedRecord, PriceTable, Step, Stop } from './step.ts'

export interface PlanContext {
  /** The most that each step costs. Default: the published prices. */
  prices?: PriceTable
  /** Returns whether the ledger has a fresh answer, so that the step costs nothing. Default: it has none. */
  isFresh?: (key: LookupKey) => boolean
}

/**
 * Returns what to do next for a record. Called again after each lookup until it returns `write` or `stop`. Pure: the same
 * record, recipe and facts give the same step, so a crash between two steps costs nothing. Each step of a recipe, and each
 * contact type, is taken at most once, so the calls end.
 */
export function nextStep(
  record: PlannedRecord,
  recipe: Recipe,
  facts: Facts,
  context: PlanContext = {},
): Step {
  const wanted = wantedFields(record, recipe)
  // A field that could not be written is neither bought nor a reason to buy anything else. Other fields of an answer are proposed
  // all the same: the field policy decides once more when it is written.
  const asked: Recipe = { ...recipe, fields: wanted }
  const outlook = outlookOf(record, asked, facts)
  const values = wantedValues(record, recipe, outlook)
  const isEnough = recipe.stopWhen?.some((field) => field in values) ?? false
  let refusal: string | undefined
  for (const candidate of isEnough || wanted.length === 0 ? [] : outlook.candidates) {
    const why = overCeiling(candidate, recipe, facts, context)
    if (why === undefined) return { kind: 'lookup', ...candidate }
    refusal ??= why
  }
  const known = isEnough ? undefined : knownToLedger(record, recipe, facts, context)
  if (known) return { kind: 'lookup', ...known }
  const leftOut = leftOutText(recipe, outlook, values)
  if (Object.keys(values).length === 0) {
    const isUntouched =
      wanted.length === 0 && Object.keys(facts).every((slot) => isFreeSlot(slot as FactSlot))
    const couldLook = outlook.candidates.length > 0 || outlook.end.status === 'unchanged'
    const end =
      refusal !== undefined
        ? stop('unchanged', refusal)
        : isUntouched && couldLook
          ? stop('unchanged', nothingOpen(record.closed ?? {}, recipe))
          : outlook.end
    return leftOut === undefined ? end : { ...end, reason: `${end.reason}; ${leftOut}` }
  }
  const reason = [refusal ?? outlook.problem, leftOut].filter((part) => part !== undefined).join('; ')
  return {
    kind: 'write',
    values,
    ...(reason === '' ? {} : { reason }),
    ...(record.object === 'person' ? jobChangeOf(jobOf(record), outlook.values) : {}),
  }
}

function outlookOf(record: PlannedRecord, recipe: Recipe, facts: Facts): Candidates {
  return record.object === 'person'
    ? personCandidates(record, recipe, facts)
    : companyCandidates(record, recipe, facts)
}

/** Nothing is bought for an undone field; a fresh answer of the ledger may say something else than what was undone. */
function knownToLedger(
  record: PlannedRecord,
  recipe: Recipe,
  facts: Facts,
  { isFresh }: PlanContext,
): Candidate | undefined {
  const reopened = isFresh && withUndoneOpen(record)
  if (!reopened) return undefined
  const fields = wantedFields(reopened, recipe)
  if (fields.length === 0) return undefined
  return outlookOf(reopened, { ...recipe, fields }, facts).candidates.find(({ lookup }) =>
    isFresh(lookup.key),
  )
}

/** Returns what a record has cost so far. A fact without a known price counts with the price of the table. */
export function spentOn(facts: Facts, prices: PriceTable = defaultPrices): Atomic {
  return Object.entries(facts).reduce((sum, [slot, fact]) => {
    return sum + (fact.priceAtomic ?? (isFreeSlot(slot as FactSlot) ? 0n : (prices[slot as FactSlot] ?? 0n)))
  }, 0n)
}

/** Returns the most that a step costs, or undefined where no price is known. */
export function priceOf(
  key: LookupKey,
  { prices = defaultPrices, isFresh }: PlanContext = {},
): Atomic | undefined {
  const slot = slotOf(key)
  return isFreeSlot(slot) || isFresh?.(key) ? 0n : prices[slot]
}

/** Returns why the price ceiling refuses a step. A step of unknown price could break the ceiling, so it is refused too. */
function overCeiling(
  { lookup }: Candidate,
  recipe: Recipe,
  facts: Facts,
  context: PlanContext,
): string | undefined {
  const ceiling = recipe.priceCeilingAtomic
  if (ceiling === undefined) return undefined
  const price = priceOf(lookup.key, context)
  const slot = slotOf(lookup.key)
  if (price === undefined)
    return `price ceiling: the price of ${slot} is not known, and a record may cost ${formatUsd(ceiling)} USD`
  const spent = spentOn(facts, context.prices)
  if (price === 0n || spent + price <= ceiling) return undefined
  return `price ceiling: ${slot} costs ${formatUsd(price)} USD, and ${formatUsd(spent)} of ${formatUsd(ceiling)} USD are spent`
}

/** Returns which wanted fields have no value because those of the answers are none of their kind. */
function leftOutText(
  { fields }: Recipe,
  { leftOut = {} }: Candidates,
  values: Readonly<Record<string, FieldValue>>,
): string | undefined {
  const parts = Object.entries(leftOut)
    .filter(([field]) => fields.includes(field) && !(field in values))
    .map(([field, reason]) => `${field} (${reason})`)
  return parts.length === 0 ? undefined : `left out of the answer: ${parts.join(', ')}`
}

function wantedValues(record: PlannedRecord, recipe: Recipe, way: Candidates): Record<string, FieldValue> {
  const values: Record<string, FieldValue> = {}
  for (const name of inOrderOfReports(record.object, recipe))
    if (name in way.values) values[name] = way.values[name] as FieldValue
  return values
}

/** A recipe is the same for all records of a run. */
const ordered: Record<ObjectKind, WeakMap<Recipe, readonly string[]>> = {
  company: new WeakMap(),
  person: new WeakMap(),
}

function inOrderOfReports(object: ObjectKind, recipe: Recipe): readonly string[] {
  let names = ordered[object].get(recipe)
  if (!names) {
    names = fieldNames(object).filter((name) => recipe.fields.includes(name))
    ordered[object].set(recipe, names)
  }
  return names
}

function jobOf({ identity, values }: PlannedRecord): Record<string, FieldValue | undefined> {
  return { company_name: values?.['company_name'] ?? identity.company, job_title: values?.['job_title'] }
}
