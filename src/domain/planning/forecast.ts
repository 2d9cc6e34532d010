import type { LookupKey } from '../keys.ts'
import type { Atomic } from '../money.ts'
import { operationRow, slotRow } from '../operations.ts'
import { capOf, isFreeSlot, type PriceCaps } from './prices.ts'
import {
  nextStep,
  slotOf,
  spentOn,
  type Facts,
  type FactSlot,
  type LookupWanted,
  type PlannedRecord,
  type PriceTable,
} from './planner.ts'
import type { Recipe } from './recipes.ts'
import type { Fact } from '../record.ts'

/** The lookups that may still be bought for a record. */
export interface Forecast {
  /**
   * Every lookup that may follow, with the most that it costs. Named by its key, or, where the key depends on an answer, by
   * its step and the next lookup: records that share the next lookup share the ones after it.
   */
  possible: ReadonlyMap<string, Atomic>
  /** The lookups that are bought with any answers, with the least that they cost. */
  sure: ReadonlyMap<string, Atomic>
  /** For this record alone, within its ceiling. */
  highAtomic: Atomic
  /** Lookups whose answers, where the ledger has them, change the forecast. */
  asked: readonly LookupKey[]
}

export interface Means {
  prices: PriceTable
  caps: PriceCaps
  /** Direct access: some lookups that find nothing are not charged, and a price must be known. */
  inCredits: boolean
  /** Fresh answers in the ledger. */
  known: (key: LookupKey) => Fact | undefined
}

/**
 * Forecasts the purchases for a record, from its next step on. Pure: follows the planner with made-up answers that leave
 * the most to ask for. A payment by challenge costs the same whether the subject is found or not.
 */
export function forecast(record: PlannedRecord, recipe: Recipe, facts: Facts, means: Means): Forecast {
  const { priceCeilingAtomic: ceiling } = recipe
  const room = ceiling === undefined ? undefined : ceiling - spentOn(facts, means.prices)
  const chain = follow(record, untilAsked(recipe), facts, room, means)
  const bought = chain.filter(({ isKnown, slot }) => !isKnown && !isFreeSlot(slot))
  const [first] = bought
  const possible = new Map(
    bought.map(({ key, slot, isNamed }) => [
      isNamed ? key : `${slot} behind ${first?.key ?? ''}`,
      atMost(slot, means),
    ]),
  )
  const all = sum(possible.values())
  const isBound = room !== undefined && all > room
  return {
    possible,
    sure: sureOf(record, recipe, bought, isBound, means),
    highAtomic: isBound ? mostWithin(room, [...possible.values()]) : all,
    asked: chain.flatMap(({ key, isNamed }) => (isNamed ? [key] : [])),
  }
}

interface Link {
  key: LookupKey
  slot: FactSlot
  /** The ledger has its fresh answer. */
  isKnown: boolean
  /** True when no made-up answer is part of the key. */
  isNamed: boolean
}

/** The host of the profiles in made-up answers. */
const nowhere = 'foreseen.invalid'

function follow(
  record: PlannedRecord,
  recipe: Recipe,
  facts: Facts,
  room: Atomic | undefined,
  { known, prices }: Means,
): Link[] {
  const chain: Link[] = []
  for (let answered = facts; ;) {
    const step = nextStep(record, recipe, answered, { prices })
    if (step.kind !== 'lookup') return chain
    const { key } = step.lookup
    const slot = slotOf(key)
    const isNamed = !key.includes(nowhere)
    const fact = isNamed ? known(key) : undefined
    const price = isFreeSlot(slot) ? 0n : prices[slot]
    // A step above the ceiling by itself is skipped by the planner, which takes the next one.
    const isAboveCeiling = !fact && room !== undefined && (price === undefined || price > room)
    if (!isAboveCeiling) chain.push({ key, slot, isKnown: fact !== undefined, isNamed })
    answered = { ...answered, [slot]: isAboveCeiling ? skipped : (fact ?? leastAnswer(step.lookup)) }
  }
}

const skipped: Fact = { outcome: 'failed', data: null }

/** Drops the ceiling, which `follow` checks itself, and a stop at a profile URL, which every made-up answer has. */
function untilAsked(recipe: Recipe): Recipe {
  const { name, fields, steps, stopWhen, similarity, country } = recipe
  const stopsAtProfile = stopWhen?.some((field) => field === 'profnet_url' || field === 'company_profnet_url')
  return {
    name,
    fields,
    steps,
    ...(stopWhen && !stopsAtProfile ? { stopWhen } : {}),
    ...(similarity === undefined ? {} : { similarity }),
    ...(country === undefined ? {} : { country }),
  }
}

/** Returns the answer that leaves the most to be asked for: it names the profiles that further steps need, and nothing else. */
function leastAnswer({ operation }: LookupWanted): Fact {
  const { about, namesProfileOf } = operationRow(operation)
  if (namesProfileOf.length === 0) return { outcome: 'not_found', data: null }
  const person = `https://${nowhere}/in/person`
  const company = `https://${nowhere}/company/company`
  const employer = namesProfileOf.includes('company') ? { company: { profnet_url: company } } : {}
  return {
    outcome: 'found',
    data: about === 'company' ? { profnet_url: company } : { profnet_url: person, ...employer },
  }
}

/**
 * Returns the next step and the later ones that no answer can make unnecessary: each contact type is bought independently of
 * the others and of the employer's profile, unless the recipe has a `stopWhen`.
 */
function sureOf(
  { object }: PlannedRecord,
  recipe: Recipe,
  bought: readonly Link[],
  isBound: boolean,
  means: Means,
): Map<string, Atomic> {
  const sure = new Map<string, Atomic>()
  for (const { key, slot, isNamed } of bought) {
    const price = means.prices[slot]
    // A step that is refused for its price ends the record's purchases.
    if (!isNamed || price === undefined || price > capOf(slot, means.caps)) break
    sure.set(nameOf(key, recipe), means.inCredits && slotRow(slot).isChargedWhenFound ? 0n : price)
    const isBeside = slot.startsWith('contact.redeem:') || (object === 'person' && slot === 'company.profile')
    if (!isBeside || isBound || recipe.stopWhen) break
  }
  return sure
}

/** Returns the name under which a lookup is charged: two lookups of one address in one batch are charged once. */
function nameOf(key: LookupKey, { similarity }: Recipe): string {
  return similarity && key.startsWith('contact.lookup|') ? key.split('|').slice(0, 2).join('|') : key
}

function atMost(slot: FactSlot, { prices, caps, inCredits }: Means): Atomic {
  const cap = capOf(slot, caps)
  const price = prices[slot]
  if (price !== undefined && price <= cap) return price
  return inCredits ? 0n : cap
}

/** Returns the largest sum within the ceiling of the first price, which is always paid, and any of the others. */
function mostWithin(room: Atomic, [first = 0n, ...others]: readonly Atomic[]): Atomic {
  let sums = new Set([first])
  for (const price of others) sums = new Set([...sums].flatMap((each) => [each, each + price]))
  return [...sums].filter((each) => each <= room).reduce((most, each) => (each > most ? each : most), first)
}

function sum(amounts: Iterable<Atomic>): Atomic {
  return [...amounts].reduce((total, amount) => total + amount, 0n)
}
