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

/** What may be bought for a record from here on. */
export interface Forecast {
  /**
   * Every lookup that may follow, with the most that it costs. By its key, or, where only an answer will tell the key, by
   * its step and the lookup that is asked for next: records that share that one share what comes behind it.
   */
  possible: ReadonlyMap<string, Atomic>
  /** Those that are bought whatever the answers are, with what is surely paid. */
  sure: ReadonlyMap<string, Atomic>
  /** For this record alone, within its ceiling. */
  highAtomic: Atomic
  /** Lookups whose answers decide what it comes to, where the ledger has them. */
  asked: readonly LookupKey[]
}

export interface Means {
  prices: PriceTable
  caps: PriceCaps
  /** Direct access: what finds nothing is not charged where the service says so, and a price must be known. */
  inCredits: boolean
  /** Fresh answers in the ledger. */
  known: (key: LookupKey) => Fact | undefined
}

/**
 * How far the purchases for a record may go, the first of which is the next step. Pure: follows the planner with answers
 * that leave the most to be asked for. A payment by challenge is for a fixed amount, found or not.
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
  /** The key is the real one. */
  isNamed: boolean
}

/** Where a made-up answer says that somebody is. */
const nowhere = 'foreseen.invalid'

function follow(
  record: PlannedRecord,
  recipe: Recipe,
  facts: Facts,
  room: Atomic | undefined,
  { known, prices }: Means,
): Link[] {
  const chain: Link[] = []
  for (let told = facts; ;) {
    const step = nextStep(record, recipe, told, { prices })
    if (step.kind !== 'lookup') return chain
    const { key } = step.lookup
    const slot = slotOf(key)
    const isNamed = !key.includes(nowhere)
    const fact = isNamed ? known(key) : undefined
    const price = isFreeSlot(slot) ? 0n : prices[slot]
    // Above the ceiling by itself: the planner passes it by, and takes what comes behind it.
    const isTooDear = !fact && room !== undefined && (price === undefined || price > room)
    if (!isTooDear) chain.push({ key, slot, isKnown: fact !== undefined, isNamed })
    told = { ...told, [slot]: isTooDear ? passedBy : (fact ?? leastTelling(step.lookup)) }
  }
}

const passedBy: Fact = { outcome: 'failed', data: null }

/** The ceiling is looked at by the way; made-up answers tell who somebody is, which must not end the asking. */
function untilAsked(recipe: Recipe): Recipe {
  const { name, fields, steps, stopWhen, similarity, country } = recipe
  const isTold = stopWhen?.some((field) => field === 'profnet_url' || field === 'company_profnet_url')
  return {
    name,
    fields,
    steps,
    ...(stopWhen && !isTold ? { stopWhen } : {}),
    ...(similarity === undefined ? {} : { similarity }),
    ...(country === undefined ? {} : { country }),
  }
}

/** Returns the answer that leaves the most to be asked for: it names the profiles that further steps need, and nothing else. */
function leastTelling({ operation }: LookupWanted): Fact {
  const { about, namesProfileOf } = operationRow(operation)
  if (namesProfileOf.length === 0) return { outcome: 'not_found', data: null }
  const person = `https://${nowhere}/in/somebody`
  const company = `https://${nowhere}/company/somewhere`
  const employer = namesProfileOf.includes('company') ? { company: { profnet_url: company } } : {}
  return {
    outcome: 'found',
    data: about === 'company' ? { profnet_url: company } : { profnet_url: person, ...employer },
  }
}

/**
 * The next step, and those behind it that no answer takes away: one contact type is asked for whatever another one or the
 * employer's profile has told, while nothing ends the asking early.
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
    // What is refused for its price keeps the record from all that comes behind it.
    if (!isNamed || price === undefined || price > capOf(slot, means.caps)) break
    sure.set(nameOf(key, recipe), means.inCredits && slotRow(slot).isChargedWhenFound ? 0n : price)
    const isBeside = slot.startsWith('contact.redeem:') || (object === 'person' && slot === 'company.profile')
    if (!isBeside || isBound || recipe.stopWhen) break
  }
  return sure
}

/** Two questions about one address count as one input when they go out together, and are charged once. */
function nameOf(key: LookupKey, { similarity }: Recipe): string {
  return similarity && key.startsWith('contact.lookup|') ? key.split('|').slice(0, 2).join('|') : key
}

function atMost(slot: FactSlot, { prices, caps, inCredits }: Means): Atomic {
  const cap = capOf(slot, caps)
  const price = prices[slot]
  if (price !== undefined && price <= cap) return price
  return inCredits ? 0n : cap
}

/** The first is bought in any case; of the others, those that come to the most without going above the ceiling. */
function mostWithin(room: Atomic, [first = 0n, ...others]: readonly Atomic[]): Atomic {
  let sums = new Set([first])
  for (const price of others) sums = new Set([...sums].flatMap((each) => [each, each + price]))
  return [...sums].filter((each) => each <= room).reduce((most, each) => (each > most ? each : most), first)
}

function sum(amounts: Iterable<Atomic>): Atomic {
  return [...amounts].reduce((total, amount) => total + amount, 0n)
}
