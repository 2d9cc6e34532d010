import type { Connector } from '../connectors/connector.ts'
import type { LookupKey } from '../domain/keys.ts'
import type { Atomic } from '../domain/money.ts'
import {
  nextStep,
  priceOf,
  slotOf,
  spentOn,
  type Facts,
  type FactSlot,
  type LookupWanted,
} from '../domain/planner.ts'
import { applyPolicy } from '../domain/policy.ts'
import { defaultPrices } from '../domain/prices.ts'
import type { Recipe } from '../domain/recipes.ts'
import type { Fact, FieldValue, Patch } from '../domain/record.ts'
import { freeOperations } from '../domain/words.ts'
import type { PlannedTask } from '../store/plans.ts'
import type { Run } from '../store/runs.ts'
import type { Context } from './context.ts'
import { ruleOf } from './data-rules.ts'
import { createRecordForms } from './record-form.ts'

/** Of one field: what stands there now, and what would. */
export type Preview = Record<string, { from: FieldValue | null; to: FieldValue }>

export interface Walked {
  task: PlannedTask
  /** What would have to be bought next; undefined when the ledger holds all that is wanted, or nothing can be done. */
  wanted?: LookupKey
  lowAtomic: Atomic
  highAtomic: Atomic
  preview?: Preview
}

/**
 * Goes with tasks as far as the ledger's fresh answers lead, as the run would: to the first lookup that has to be bought,
 * or to what would be written. Buys and stores nothing.
 */
export async function walk(
  context: Pick<Context, 'lookups' | 'fieldWrites' | 'config' | 'now'>,
  connector: Connector,
  run: Run,
  recipe: Recipe,
  tasks: readonly PlannedTask[],
): Promise<Walked[]> {
  const walked: Walked[] = []
  const patches: { at: number; recordId: string; patch: Patch }[] = []
  let walking = tasks
    .filter(({ lookupKey }) => lookupKey !== null)
    .map((task) => ({ task, facts: {} as Facts }))
  for (const task of tasks) if (task.lookupKey === null) walked.push({ task, lowAtomic: 0n, highAtomic: 0n })
  while (walking.length > 0) {
    const steps = walking.map((each) => ({
      ...each,
      step: nextStep({ object: run.object, identity: each.task.identity }, recipe, each.facts),
    }))
    const asked = steps.flatMap(({ step }) => (step.kind === 'lookup' ? [step.lookup.key] : []))
    const known = await context.lookups.facts(asked)
    const now = context.now()
    const further: typeof walking = []
    for (const { task, facts, step } of steps) {
      if (step.kind === 'stop') walked.push({ task, lowAtomic: 0n, highAtomic: 0n })
      else if (step.kind === 'write') {
        const patch = Object.fromEntries(Object.entries(step.values).map(([name, set]) => [name, { set }]))
        patches.push({ at: walked.length, recordId: task.recordId, patch })
        walked.push({ task, lowAtomic: 0n, highAtomic: 0n })
      } else {
        const fact = freshFact(step.lookup, known, now)
        if (fact) further.push({ task, facts: { ...facts, [slotOf(step.lookup.key)]: fact } })
        else
          walked.push({
            task,
            wanted: step.lookup.key,
            ...costOf(step.lookup.key, recipe, facts, context.config.policy.maxPriceAtomic),
          })
      }
    }
    walking = further
  }
  const previews = await previewsOf(context, connector, run, patches)
  patches.forEach(({ at }, index) => {
    const preview = previews[index]
    const each = walked[at]
    if (each && preview && Object.keys(preview).length > 0) each.preview = preview
  })
  return walked
}

/** What costs nothing is not waited for: the preview does without it. */
function freshFact(
  { key, operation }: LookupWanted,
  known: ReadonlyMap<LookupKey, Fact & { freshUntil: Date }>,
  now: Date,
): Fact | undefined {
  const fact = known.get(key)
  if (fact && fact.outcome !== 'failed' && fact.freshUntil > now) return { ...fact, priceAtomic: 0n }
  return freeOperations.includes(operation) ? { outcome: 'not_found', data: null } : undefined
}

/** At least the lookup itself, where nothing more is needed behind it; at most it and every step that may follow. */
function costOf(
  key: LookupKey,
  recipe: Recipe,
  facts: Facts,
  maxPriceAtomic: Atomic,
): { lowAtomic: Atomic; highAtomic: Atomic } {
  const known = priceOf(key) ?? maxPriceAtomic
  const lowAtomic = known < maxPriceAtomic ? known : maxPriceAtomic
  const slot = slotOf(key)
  const later = stepsOf(recipe).filter((each) => each !== slot && !(each in facts))
  const most = (each: FactSlot) => {
    const price = defaultPrices[each] ?? maxPriceAtomic
    return price > maxPriceAtomic ? price : maxPriceAtomic
  }
  const highest = [slot, ...later].reduce((sum, each) => sum + most(each), 0n)
  const ceiling = recipe.priceCeilingAtomic
  const room = ceiling === undefined ? highest : ceiling - spentOn(facts)
  const highAtomic = highest < room ? highest : room
  return { lowAtomic, highAtomic: highAtomic > lowAtomic ? highAtomic : lowAtomic }
}

function stepsOf({ steps, fields }: Recipe): FactSlot[] {
  return steps
    .filter((operation) => !freeOperations.includes(operation))
    .flatMap((operation): FactSlot[] =>
      operation === 'contact.redeem'
        ? [
            ...(fields.includes('email') ? (['contact.redeem:email-work'] as const) : []),
            ...(fields.includes('email_personal') ? (['contact.redeem:email-personal'] as const) : []),
            ...(fields.some((field) => field === 'phone' || field === 'mobile_phone')
              ? (['contact.redeem:phone'] as const)
              : []),
          ]
        : [operation],
    )
}

/** What the rules would let through over what stands there now. */
async function previewsOf(
  { fieldWrites, config }: Pick<Context, 'fieldWrites' | 'config'>,
  connector: Connector,
  run: Run,
  patches: readonly { recordId: string; patch: Patch }[],
): Promise<(Preview | undefined)[]> {
  if (patches.length === 0) return []
  const ids = patches.map(({ recordId }) => recordId)
  const current = await connector.read(run.entity, ids)
  const { ours } = await fieldWrites.history(connector.name, run.entity, ids, [])
  const form = await createRecordForms(config)(connector, run.entity)
  return patches.map(({ recordId, patch }) => {
    const record = current.get(recordId)
    if (record?.state !== 'present') return undefined
    const proposed = Object.fromEntries(Object.entries(patch).filter(([field]) => form.has(field)))
    const decision = applyPolicy({
      current: record.values,
      proposed,
      ours: ours.get(recordId) ?? {},
      rule: (field) => ruleOf(config.policies, connector.name, field),
    })
    return Object.fromEntries(
      Object.entries(form.standing(decision.patch)).map(([field, to]) => [
        field,
        { from: record.values[field] ?? null, to },
      ]),
    )
  })
}
