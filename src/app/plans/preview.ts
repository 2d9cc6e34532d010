import type { Connector } from '../../connectors/connector.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { capsOf } from '../../domain/planning/prices.ts'
import { forecast, type Forecast, type Means } from '../../domain/forecast/forecast.ts'
import type { Facts, PlannedRecord } from '../../domain/planning/planner.ts'
import { applyPolicy } from '../../domain/field-policy/field-policy.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'
import type { Fact, FieldValue, Patch } from '../../domain/record.ts'
import { followKnown, freshFacts, type FollowedRecord } from '../../planning/follow-known.ts'
import type { PlannedTask } from '../../store/plans/plans.ts'
import type { Run } from '../../store/runs/runs.ts'
import { blockedFields } from '../../domain/field-policy/blocked-values.ts'
import type { Context } from '../context/context.ts'
import { ruleOf } from '../config/policies.ts'
import { createRecordForms } from '../context/record-form.ts'
import { placeable } from '../../workers/write/record-form.ts'

/** The current and the new value of each field. */
export type Preview = Record<string, { from: FieldValue | null; to: FieldValue }>

export interface PlanPreview {
  task: PlannedTask
  /** The lookup to buy next; absent when the ledger has everything that is wanted, or nothing can be done. */
  wanted?: LookupKey
  /** The possible cost of that lookup and of the steps after it. */
  cost?: Forecast
  /** The facts from which the cost was forecast. */
  from?: { record: PlannedRecord; facts: Facts; known: Means['known'] }
  preview?: Preview
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
  const patches: { at: number; recordId: string; patch: Patch }[] = []
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
    const { step, facts } = followed[index] as FollowedRecord
    if (step.kind === 'lookup') {
      wanting.push({ at: planned.length, record, facts })
      planned.push({ task, wanted: step.lookup.key })
      return
    }
    if (step.kind === 'write') {
      const patch = Object.fromEntries(Object.entries(step.values).map(([name, set]) => [name, { set }]))
      patches.push({ at: planned.length, recordId: task.recordId, patch })
    }
    planned.push({ task })
  })
  await forecastCosts(context, recipe, wanting, planned)
  const previews = await previewsOf(context, connector, run, patches)
  patches.forEach(({ at }, index) => {
    const preview = previews[index]
    const each = planned[at]
    if (each && preview && Object.keys(preview).length > 0) each.preview = preview
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

/** Returns the changes that the rules allow to the current values, without fields that an undo or the CRM has blocked. */
async function previewsOf(
  { fieldWrites, config }: Pick<Context, 'fieldWrites' | 'config'>,
  connector: Connector,
  run: Run,
  patches: readonly { recordId: string; patch: Patch }[],
): Promise<(Preview | undefined)[]> {
  if (patches.length === 0) return []
  const ids = patches.map(({ recordId }) => recordId)
  const current = await connector.read(run.entity, ids)
  const { ours, blocked: blockedValues } = await fieldWrites.history(connector.name, run.entity, ids, [])
  const form = await createRecordForms(config)(connector, run.entity)
  const rule = (field: string) => ruleOf(config.policies, connector.name, field)
  return patches.map(({ recordId, patch }) => {
    const record = current.get(recordId)
    if (record?.state !== 'present') return undefined
    const proposed = placeable(patch, form, rule)
    const decision = applyPolicy({
      current: record.values,
      proposed,
      ours: ours.get(recordId) ?? {},
      rule,
    })
    const standing = form.standing(proposed)
    const { mapping } = form
    const blocked = blockedFields(blockedValues.get(recordId) ?? [], { proposed, standing, rule, mapping })
    return Object.fromEntries(
      Object.entries(form.standing(decision.patch))
        .filter(([field]) => !blocked.has(field))
        .map(([field, to]) => [field, { from: record.values[field] ?? null, to }]),
    )
  })
}
