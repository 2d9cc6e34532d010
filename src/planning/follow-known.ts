import type { LookupKey } from '../domain/keys.ts'
import { isFreeOperation } from '../domain/operations.ts'
import {
  nextStep,
  slotOf,
  type Facts,
  type LookupWanted,
  type PlannedRecord,
  type PriceTable,
  type Step,
} from '../domain/planning/planner.ts'
import type { Recipe } from '../domain/planning/recipes.ts'
import type { Fact } from '../domain/record.ts'
import type { LookupLedger } from '../store/ledger/lookups.ts'

export interface FollowedRecord {
  /** The first step that is not free, or how the record ends. */
  step: Step
  /** The facts that the step was planned from. */
  facts: Facts
  /** The lookups whose fresh answers were used. */
  known: LookupKey[]
  /** The lookups that the ledger has fresh answers to, among those whose price decided. */
  isFresh: (key: LookupKey) => boolean
}

/**
 * Plans records as a run would, as far as the ledger's fresh answers allow: up to the first lookup to buy, or to the values
 * to write. Buys and saves nothing. A free lookup that the ledger does not have counts as one that finds nothing.
 */
export async function followKnown(
  records: readonly { record: PlannedRecord; recipe: Recipe }[],
  by: { lookups: Pick<LookupLedger, 'freshFacts'>; prices: PriceTable },
): Promise<FollowedRecord[]> {
  const { prices } = by
  const followed: FollowedRecord[] = []
  let open = records.map((each, index) => ({ ...each, index, facts: {} as Facts, known: [] as LookupKey[] }))
  while (open.length > 0) {
    // Planned twice: the steps decide which answers to read from the ledger, and those answers decide what the steps cost.
    const asked = new Set<LookupKey>()
    const notFresh = (key: LookupKey) => (asked.add(key), false)
    for (const { record, recipe, facts } of open) {
      const step = nextStep(record, recipe, facts, { prices, isFresh: notFresh })
      if (step.kind === 'lookup') asked.add(step.lookup.key)
    }
    const fresh = await freshFacts(by, [...asked])
    const isFresh = (key: LookupKey) => fresh.has(key)
    const further: typeof open = []
    for (const { record, recipe, index, facts, known } of open) {
      const step = nextStep(record, recipe, facts, { prices, isFresh })
      const fact = step.kind === 'lookup' ? (fresh.get(step.lookup.key) ?? free(step.lookup)) : undefined
      if (step.kind !== 'lookup' || !fact) followed[index] = { step, facts, known, isFresh }
      else {
        const { key } = step.lookup
        further.push({
          record,
          recipe,
          index,
          facts: { ...facts, [slotOf(key)]: fact },
          known: fresh.has(key) ? [...known, key] : known,
        })
      }
    }
    open = further
  }
  return followed
}

/** Returns the facts that a run would not buy again, under whatever name of the subject the ledger has them. */
export async function freshFacts(
  { lookups }: { lookups: Pick<LookupLedger, 'freshFacts'> },
  keys: LookupKey[],
): Promise<Map<LookupKey, Fact>> {
  const facts = await lookups.freshFacts(keys)
  return new Map([...facts].map(([key, fact]) => [key, { ...fact, priceAtomic: 0n }]))
}

function free({ operation }: LookupWanted): Fact | undefined {
  return isFreeOperation(operation) ? { outcome: 'not_found', data: null } : undefined
}
