import type { Connector } from '../../connectors/connector.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { capsOf } from '../../domain/planning/prices.ts'
import { forecast, type Forecast, type Means } from '../../domain/forecast/forecast.ts'
import type { Facts, PlannedRecord } from '../../domain/planning/planner.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'
import type { Fact } from '../../domain/record.ts'
import { followKnown, freshFacts, type FollowedRecord } from '../../planning/follow-known.ts'
import type { PlannedTask } from '../../store/plans/plans.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Context } from '../context/context.ts'
import { wouldWrite, type Preview, type WouldWrite } from './would-write.ts'

export interface PlanPreview {
  task: PlannedTask
  /** The lookup to buy next; absent when the ledger has everything that is wanted, or nothing can be done. */
  wanted?: LookupKey
  /** The possible cost of that lookup and of the steps after it. */
  cost?: Forecast
  /** The facts from which the cost was forecast. */
  from?: { record: PlannedRecord; facts: Facts; known: Means['known'] }
  preview?: Preview
  /** The end of a record into which nothing would be written, although answers are known. */
  end?: WouldWrite['end']
}

/**
 * Plans tasks as the run would, as far as the ledger's fresh answers allow: up to the first lookup to buy, or to the values
 * to write. Buys and saves nothing.
 */
export async function previewPlan(
  context: Pick<Context, 'lookups' | 'fieldWrites' | 'config' | 'now'>,
  connector: Connector,
  run: Run,
  recipe: Recipe,
  tasks: readonly PlannedTask[],
): Promise<PlanPreview[]> {
  const planned: PlanPreview[] = []
  const patches: ({ at: number } & Parameters<typeof wouldWrite>[3][number])[] = []
  const wanting: Wanting[] = []
  for (const task of tasks) if (task.lookupKey === null) planned.push({ task })
  const open = tasks
    .filter(({ lookupKey }) => lookupKey !== null)
    .map((task) => ({
      task,
      recipe,
      record: { object: run.object, identity: task.identity, closed: task.closed },
    }))
  const { lookups, config } = context
  const followed = await followKnown(open, { lookups, prices: config.prices })
  open.forEach(({ task, record }, index) => {
    const { step, facts, known } = followed[index] as FollowedRecord
    if (step.kind === 'lookup') {
      wanting.push({ at: planned.length, record, facts })
      planned.push({ task, wanted: step.lookup.key })
      return
    }
    if (step.kind === 'write') {
      const patch = Object.fromEntries(Object.entries(step.values).map(([name, set]) => [name, { set }]))
      const { recordId, identity } = task
      patches.push({ at: planned.length, recordId, identity, steps: known, patch })
    }
    planned.push(
      step.kind === 'stop' ? { task, end: { status: step.status, reason: step.reason } } : { task },
    )
  })
  await forecastCosts(context, recipe, wanting, planned)
  const writes = await wouldWrite(context, connector, run.entity, patches)
  patches.forEach(({ at }, index) => {
    const write = writes[index]
    const each = planned[at]
    if (!each || !write) return
    if (write.end) each.end = write.end
    else each.preview = write.changes
  })
  return planned
}

/** Returns what forecasts are made with, apart from the ledger's answers. */
export function meansOf({ prices, policy, apiKey }: Context['config']): Omit<Means, 'known'> {
  return { prices, caps: capsOf(policy), inCredits: apiKey !== undefined }
}

/** A record that needs a lookup, and the facts that are known about it. */
interface Wanting {
  at: number
  record: PlannedRecord
  facts: Facts
}

/** Adds the cost of each record. Later steps whose keys are known already are read from the ledger too, and cost nothing. */
async function forecastCosts(
  context: Pick<Context, 'lookups' | 'config' | 'now'>,
  recipe: Recipe,
  wanting: readonly Wanting[],
  planned: PlanPreview[],
): Promise<void> {
  const known = new Map<LookupKey, Fact>()
  const means: Means = { ...meansOf(context.config), known: (key) => known.get(key) }
  const looked = new Set<LookupKey>()
  for (let open = wanting; open.length > 0;) {
    const asked = new Set<LookupKey>()
    for (const { at, record, facts } of open) {
      const cost = forecast(record, recipe, facts, means)
      const each = planned[at]
      if (each) Object.assign(each, { cost, from: { record, facts, known: means.known } })
      for (const key of cost.asked) if (!looked.has(key)) asked.add(key)
    }
    for (const key of asked) looked.add(key)
    const found = await freshFacts(context, [...asked])
    for (const [key, fact] of found) known.set(key, fact)
    open = open.filter(({ at }) => planned[at]?.cost?.asked.some((key) => found.has(key)))
  }
}
