import type { Connector } from '../../connectors/connector.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { forecast, type Forecast, type Means } from '../../domain/planning/forecast.ts'
import {
  nextStep,
  slotOf,
  type Facts,
  type LookupWanted,
  type PlannedRecord,
} from '../../domain/planning/planner.ts'
import { applyPolicy } from '../../domain/field-policy/field-policy.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'
import type { Fact, FieldValue, Patch } from '../../domain/record.ts'
import { isFreeOperation } from '../../domain/operations.ts'
import type { PlannedTask } from '../../store/runs/plans.ts'
import type { Run } from '../../store/runs/runs.ts'
import { blockedFields } from '../../domain/field-policy/blocked-values.ts'
import type { Context } from '../context/context.ts'
import { ruleOf } from '../config/policies.ts'
import { createRecordForms } from '../context/record-form.ts'

/** Of one field: what stands there now, and what would. */
export type Preview = Record<string, { from: FieldValue | null; to: FieldValue }>

export interface PlanPreview {
  task: PlannedTask
  /** What would have to be bought next; undefined when the ledger holds all that is wanted, or nothing can be done. */
  wanted?: LookupKey
  /** What that and everything behind it may come to. */
  foreseen?: Forecast
  preview?: Preview
}

/**
 * Goes with tasks as far as the ledger's fresh answers lead, as the run would: to the first lookup that has to be bought,
 * or to what would be written. Buys and stores nothing.
 */
export async function previewPlan(
  context: Pick<Context, 'lookups' | 'fieldWrites' | 'config' | 'now'>,
  connector: Connector,
  run: Run,
  recipe: Recipe,
  tasks: readonly PlannedTask[],
): Promise<PlanPreview[]> {
  const walked: PlanPreview[] = []
  const patches: { at: number; recordId: string; patch: Patch }[] = []
  const wanting: Wanting[] = []
  const { prices } = context.config
  let walking = tasks
    .filter(({ lookupKey }) => lookupKey !== null)
    .map((task) => ({ task, record: { object: run.object, identity: task.identity }, facts: {} as Facts }))
  for (const task of tasks) if (task.lookupKey === null) walked.push({ task })
  while (walking.length > 0) {
    // Asked twice: what a step costs depends on what the ledger has, and what to look for there on the steps.
    const asked = new Set<LookupKey>()
    const notFresh = (key: LookupKey) => (asked.add(key), false)
    for (const { record, facts } of walking) {
      const step = nextStep(record, recipe, facts, { prices, isFresh: notFresh })
      if (step.kind === 'lookup') asked.add(step.lookup.key)
    }
    const known = await freshFacts(context, [...asked])
    const further: typeof walking = []
    for (const { task, record, facts } of walking) {
      const step = nextStep(record, recipe, facts, { prices, isFresh: (key) => known.has(key) })
      if (step.kind === 'stop') walked.push({ task })
      else if (step.kind === 'write') {
        const patch = Object.fromEntries(Object.entries(step.values).map(([name, set]) => [name, { set }]))
        patches.push({ at: walked.length, recordId: task.recordId, patch })
        walked.push({ task })
      } else {
        const { lookup } = step
        const fact = known.get(lookup.key) ?? free(lookup)
        if (fact) further.push({ task, record, facts: { ...facts, [slotOf(lookup.key)]: fact } })
        else {
          wanting.push({ at: walked.length, record, facts })
          walked.push({ task, wanted: lookup.key })
        }
      }
    }
    walking = further
  }
  await foreseeAll(context, recipe, wanting, walked)
  const previews = await previewsOf(context, connector, run, patches)
  patches.forEach(({ at }, index) => {
    const preview = previews[index]
    const each = walked[at]
    if (each && preview && Object.keys(preview).length > 0) each.preview = preview
  })
  return walked
}

/** A record for which something has to be bought, and what is known of it. */
interface Wanting {
  at: number
  record: PlannedRecord
  facts: Facts
}

/** Steps behind the next one may be in the ledger too: where their keys are known now, they are looked for and cost nothing. */
async function foreseeAll(
  context: Pick<Context, 'lookups' | 'config' | 'now'>,
  recipe: Recipe,
  wanting: readonly Wanting[],
  walked: PlanPreview[],
): Promise<void> {
  const { policy, prices, apiKey } = context.config
  const known = new Map<LookupKey, Fact>()
  const means: Means = {
    prices,
    caps: { otherAtomic: policy.maxPriceAtomic, bySlot: policy.maxPrices ?? {} },
    inCredits: apiKey !== undefined,
    known: (key) => known.get(key),
  }
  const looked = new Set<LookupKey>()
  for (let open = wanting; open.length > 0;) {
    const asked = new Set<LookupKey>()
    for (const { at, record, facts } of open) {
      const foreseen = forecast(record, recipe, facts, means)
      const each = walked[at]
      if (each) each.foreseen = foreseen
      for (const key of foreseen.asked) if (!looked.has(key)) asked.add(key)
    }
    for (const key of asked) looked.add(key)
    const found = await freshFacts(context, [...asked])
    for (const [key, fact] of found) known.set(key, fact)
    open = open.filter(({ at }) => walked[at]?.foreseen?.asked.some((key) => found.has(key)))
  }
}

/** Those that a run would not buy again. */
async function freshFacts(
  { lookups, now }: Pick<Context, 'lookups' | 'now'>,
  keys: LookupKey[],
): Promise<Map<LookupKey, Fact>> {
  const at = now()
  const facts = [...(await lookups.facts(keys))]
  return new Map(
    facts
      .filter(([, fact]) => fact.outcome !== 'failed' && fact.freshUntil > at)
      .map(([key, fact]) => [key, { ...fact, priceAtomic: 0n }]),
  )
}

/** What costs nothing is not waited for: the preview does without it. */
function free({ operation }: LookupWanted): Fact | undefined {
  return isFreeOperation(operation) ? { outcome: 'not_found', data: null } : undefined
}

/** What the rules would let through over what stands there now, without what was put back or refused before. */
async function previewsOf(
  { fieldWrites, config }: Pick<Context, 'fieldWrites' | 'config'>,
  connector: Connector,
  run: Run,
  patches: readonly { recordId: string; patch: Patch }[],
): Promise<(Preview | undefined)[]> {
  if (patches.length === 0) return []
  const ids = patches.map(({ recordId }) => recordId)
  const current = await connector.read(run.entity, ids)
  const { ours, blocked: setAside } = await fieldWrites.history(connector.name, run.entity, ids, [])
  const form = await createRecordForms(config)(connector, run.entity)
  const rule = (field: string) => ruleOf(config.policies, connector.name, field)
  return patches.map(({ recordId, patch }) => {
    const record = current.get(recordId)
    if (record?.state !== 'present') return undefined
    const proposed = Object.fromEntries(Object.entries(patch).filter(([field]) => form.has(field)))
    const decision = applyPolicy({
      current: record.values,
      proposed,
      ours: ours.get(recordId) ?? {},
      rule,
    })
    const standing = form.standing(proposed)
    const { mapping } = form
    const aside = blockedFields(setAside.get(recordId) ?? [], { proposed, standing, rule, mapping })
    return Object.fromEntries(
      Object.entries(form.standing(decision.patch))
        .filter(([field]) => !aside.has(field))
        .map(([field, to]) => [field, { from: record.values[field] ?? null, to }]),
    )
  })
}
