import type { LookupKey } from '../keys.ts'
import { slotRow } from '../operations.ts'
import { capOf, isFreeSlot } from '../planning/prices.ts'
import { nextStep, slotOf, type Facts, type FactSlot, type PlannedRecord } from '../planning/planner.ts'
import type { Recipe } from '../planning/recipes.ts'
import type { Fact } from '../record.ts'
import type { Experience } from './experience.ts'
import { nowhere, type Forecast, type Means } from './forecast.ts'

/** The expected number and cost of a step's lookups, in millionths of USD. Averages, so not whole. */
export interface StepExpected {
  count: number
  atomic: number
}

export interface Expected {
  /** `known` returns the ledger's fresh answers; it is asked at once, and not kept. */
  add(record: PlannedRecord, facts: Facts, cost: Forecast, known: Means['known']): void
  sum(): Map<FactSlot, StepExpected>
}

/** Records kept of each kind. */
const kept = 300
/** The number of records followed in all, shared out by the size of a kind, and the least of a kind. */
const followed = 600
const leastFollowed = 10

interface Followed {
  record: PlannedRecord
  facts: Facts
  known: ReadonlyMap<LookupKey, Fact>
}

interface Kind {
  /** Different next lookups: records that share one share what follows. */
  firsts: Set<string>
  records: Followed[]
}

/**
 * Expects what a run buys. Follows the planner with answers such as the ledger has seen. Records that may buy the same steps
 * are one kind; a part of each kind is followed, and counts for all of it.
 */
export function createExpected(
  recipe: Recipe,
  means: Omit<Means, 'known'>,
  experience: Experience,
): Expected {
  const kinds = new Map<string, Kind>()
  return {
    add(record, facts, cost, known) {
      const [first] = cost.possible.keys()
      if (first === undefined) return
      const name = [...cost.possible.values()].map(({ slot }) => slot).join(' ')
      const kind = kinds.get(name) ?? { firsts: new Set<string>(), records: [] }
      kinds.set(name, kind)
      if (kind.firsts.has(first)) return
      kind.firsts.add(first)
      if (kind.records.length < kept) kind.records.push({ record, facts, known: knownOf(cost, known) })
    },

    sum() {
      const named = new Map<FactSlot, StepExpected>()
      const unnamed = new Map<FactSlot, StepExpected>()
      const size = [...kinds.values()].reduce((sum, { firsts }) => sum + firsts.size, 0)
      for (const { firsts, records } of kinds.values()) {
        const times = Math.max(leastFollowed, Math.round((followed * firsts.size) / size))
        const weight = firsts.size / times
        for (let time = 0; time < times; time++) {
          const each = records[time % records.length] as Followed
          for (const { slot, atomic, isNamed } of drawn(each, recipe, means, experience)) {
            const totals = isNamed ? named : unnamed
            const before = totals.get(slot) ?? { count: 0, atomic: 0 }
            totals.set(slot, {
              count: before.count + weight,
              atomic: before.atomic + Number(atomic) * weight,
            })
          }
        }
      }
      const all = new Map<FactSlot, StepExpected>(named)
      for (const [slot, { count, atomic }] of unnamed) {
        const share = count === 0 ? 0 : experience.fresh(slot, count) / count
        const before = all.get(slot) ?? { count: 0, atomic: 0 }
        all.set(slot, { count: before.count + count * share, atomic: before.atomic + atomic * share })
      }
      return all
    },
  }
}

interface Drawn {
  slot: FactSlot
  atomic: bigint
  /** False for a lookup whose key an answer names: it may be in the ledger already. */
  isNamed: boolean
}

function knownOf({ asked }: Forecast, known: Means['known']): Map<LookupKey, Fact> {
  return new Map(
    asked.flatMap((key): [LookupKey, Fact][] => {
      const fact = known(key)
      return fact ? [[key, fact]] : []
    }),
  )
}

/** Follows the planner once to the end of a record. */
function drawn(
  { record, facts, known }: Followed,
  recipe: Recipe,
  { prices, caps, inCredits }: Omit<Means, 'known'>,
  experience: Experience,
): Drawn[] {
  const bought: Drawn[] = []
  const isKnown = (key: LookupKey) => known.has(key)
  for (let answered = facts; ;) {
    const step = nextStep(record, recipe, answered, { prices, isFresh: isKnown })
    if (step.kind !== 'lookup') return bought
    const { key } = step.lookup
    const slot = slotOf(key)
    if (isKnown(key)) {
      answered = { ...answered, [slot]: known.get(key) }
      continue
    }
    const fact = experience.next(slot, key)
    let atomic = 0n
    if (!isFreeSlot(slot)) {
      const price = prices[slot] ?? (inCredits ? undefined : capOf(slot, caps))
      // Refused: nothing more is bought for the record.
      if (price === undefined) return bought
      atomic = inCredits && slotRow(slot).isChargedWhenFound && fact.outcome !== 'found' ? 0n : price
      bought.push({ slot, atomic, isNamed: !key.includes(nowhere) })
    }
    answered = { ...answered, [slot]: { ...fact, priceAtomic: atomic } }
  }
}
