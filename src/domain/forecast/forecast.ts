import type { LookupKey } from '../keys.ts'
import type { Atomic } from '../money.ts'
import { operationRow, slotRow } from '../operations.ts'
import { capOf, isFreeSlot, type PriceCaps } from '../planning/prices.ts'
import {
  nextStep,
  slotOf,
  spentOn,
  type Facts,
  type FactSlot,
  type PlannedRecord,
  type PriceTable,
} from '../planning/planner.ts'
import type { Recipe } from '../planning/recipes.ts'
import type { Fact } from '../record.ts'
import type { Operation } from '../words.ts'

/** The lookups that may still be bought for a record. */
export interface Forecast {
  /**
   * Every lookup that may follow, with the most that it costs. Named by its key, or, where the key depends on an answer, by
   * its step and the next lookup: records that share the next lookup share the ones after it.
   */
  possible: ReadonlyMap<string, Purchase>
  /** The lookups that are bought with any answers, with the least that they cost. */
  sure: ReadonlyMap<string, Purchase>
  /** For this record alone, within its ceiling. */
  highAtomic: Atomic
  /** Lookups whose answers, where the ledger has them, change the forecast. */
  asked: readonly LookupKey[]
}

export interface Purchase {
  slot: FactSlot
  atomic: Atomic
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
      nameBehind(first?.key, { key, slot, isNamed }),
      { slot, atomic: atMost(slot, means) },
    ]),
  )
  const amounts = [...possible.values()].map(({ atomic }) => atomic)
  const all = sum(amounts)
  const isBound = room !== undefined && all > room
  return {
    possible,
    sure: sureOf(record, recipe, bought, isBound, means),
    highAtomic: isBound ? mostWithin(room, amounts) : all,
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
export const nowhere = 'foreseen.invalid'

/** Returns the name of a lookup that may be bought, which it has in common with other records that would buy it. */
function nameBehind(
  first: LookupKey | undefined,
  { key, slot, isNamed }: { key: LookupKey; slot: FactSlot; isNamed: boolean },
): string {
  return isNamed ? key : `${slot} behind ${first ?? ''}`
}

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
    answered = {
      ...answered,
      [slot]: isAboveCeiling ? skipped : (fact ?? leastAnswer(step.lookup.operation)),
    }
  }
}

const skipped: Fact = { outcome: 'failed', data: null }

/** Drops the ceiling, which `follow` checks itself, and a stop at a profile URL, which every made-up answer has. */
function untilAsked(recipe: Recipe): Recipe {
  const { name, fields, steps, stopWhen, similarity, country, networkHosts } = recipe
  const stopsAtProfile = stopWhen?.some((field) => field === 'profnet_url' || field === 'company_profnet_url')
  return {
    name,
    fields,
    steps,
    ...(stopWhen && !stopsAtProfile ? { stopWhen } : {}),
    ...(similarity === undefined ? {} : { similarity }),
    ...(country === undefined ? {} : { country }),
    ...(networkHosts === undefined ? {} : { networkHosts }),
  }
}

/** Returns the answer that leaves the most to be asked for: it names the profiles that further steps need, and nothing else. */
export function leastAnswer(operation: Operation): Fact {
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
 * Returns the next step and the later ones that no answer can make unnecessary: the employer's profile, the phones and one
 * kind of e-mail are bought independently of one another, unless the recipe has a `stopWhen`. A revealed e-mail may be of the
 * other kind, which is then not asked for.
 */
function sureOf(
  { object }: PlannedRecord,
  recipe: Recipe,
  bought: readonly Link[],
  isBound: boolean,
  means: Means,
): Map<string, Purchase> {
  const sure = new Map<string, Purchase>()
  let hasMail = false
  for (const { key, slot, isNamed } of bought) {
    const price = means.prices[slot]
    // A step without a known price may be refused, which ends the record's purchases.
    if (!isNamed || price === undefined) break
    const isMail = slot.startsWith('contact.redeem:email')
    if (isMail && hasMail) continue
    hasMail ||= isMail
    const atomic = means.inCredits && slotRow(slot).isChargedWhenFound ? 0n : price
    sure.set(nameOf(key, recipe), { slot, atomic })
    const isBeside = slot.startsWith('contact.redeem:') || (object === 'person' && slot === 'company.profile')
    if (!isBeside || isBound || recipe.stopWhen) break
  }
  return sure
}

/** Returns the name under which a lookup is charged: two lookups of one address in one batch are charged once. */
function nameOf(key: LookupKey, { similarity }: Recipe): string {
  return similarity && key.startsWith('contact.lookup|') ? key.split('|').slice(0, 2).join('|') : key
}

/** A step above its cap counts with its price: what the caps stop is a matter of the whole run, and is said beside it. */
function atMost(slot: FactSlot, { prices, caps, inCredits }: Means): Atomic {
  return prices[slot] ?? (inCredits ? 0n : capOf(slot, caps))
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
