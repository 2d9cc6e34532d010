import type { ConfigError } from '../../domain/errors.ts'
import { createHash } from 'node:crypto'
import type { Connector, ScanOptions } from '../../connectors/connector.ts'
import { isCrmName } from '../../connectors/definitions.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import type { SourceRecord } from '../../domain/record.ts'
import { createCosts } from '../../domain/forecast/costs.ts'
import { createExpected } from '../../domain/forecast/expected.ts'
import { createExperience } from '../../domain/forecast/experience.ts'
import { paidSteps } from '../../domain/planning/recipe-steps.ts'
import { slotRow } from '../../domain/operations.ts'
import { lessPlanned, spendLimits } from '../money/spend-limits.ts'
import { seenAnswers, seenChains } from '../../store/views/seen-answers.ts'
import { planCost } from './plan-cost.ts'
import { scan } from '../../producers/scan.ts'
import { ledgerId } from '../../store/database/meta.ts'
import { createPlanLedger, planFigures } from '../../store/plans/plans.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Context } from '../context/context.ts'
import { createPlanOutcomes } from './plan-outcomes.ts'
import type { RunPlan } from './plan-text.ts'
import { meansOf, previewPlan } from './preview.ts'
import type { Preview } from './would-write.ts'

export interface PlanOptions {
  kind: 'csv' | 'sync'
  connector: Connector
  /** A run in the state `planned`. The caller drops it again. */
  run: Run
  source: ScanOptions
  /** The job by which `paydirt apply` finds the same records again. */
  job: Record<string, unknown>
  /** Saves the plan under this id. Absent: the plan is only measured. */
  planId?: string | undefined
  /** Returns what would keep a run from beginning, by the checks of the run itself. */
  refusals: () => Promise<ConfigError[]>
  /** The most that plans of the same command before this one would spend of what they share. Default: nothing. */
  plannedAtomic?: Atomic | undefined
}

const pageSize = 500
const shownRows = 100

/**
 * Reads a source as the run would, and plans each record as far as the ledger's answers allow. Pays and writes nothing.
 * Saves the records of the plan, each by a digest of the identity it is looked up by, and the cost.
 */
export async function makePlan(context: Context, options: PlanOptions): Promise<RunPlan> {
  const { run, connector, source, planId } = options
  const plans = createPlanLedger(context.database.db, { now: context.now })
  if (planId === undefined) return (await measure(context, options)).plan
  const salt = await ledgerId(context.database.db, context.randomBytes)
  await plans.begin({
    id: planId,
    kind: options.kind,
    connector: connector.name,
    object: run.object,
    entity: run.entity,
    recipe: run.recipe,
    job: { ...options.job, after: source.after ?? null, rules: rulesDigest(context, run) },
    priceAtomic: context.config.policy.maxPriceAtomic,
  })
  try {
    let ordinal = 0
    const recorded: Connector = {
      ...connector,
      async *scan(entity, scanOptions) {
        for await (const page of connector.scan(entity, scanOptions)) {
          const rows = page.records.map((record) => ({
            ordinal: (ordinal += 1),
            recordId: record.id,
            digest: recordDigest(record, salt),
          }))
          await plans.addRecords(planId, rows)
          yield page
        }
      },
    }
    const { plan, toBuy, highAtomic } = await measure(context, { ...options, connector: recorded })
    const document = { ...plan, planId }
    const { rows: _, ...counts } = document.preview ?? { rows: [] }
    // A plan that becomes a run moves the source on to here, whatever has changed behind it since.
    const through = (await context.runs.get(run.id))?.watermark ?? null
    await plans.finish(planId, { document: { ...document, preview: counts, through }, toBuy, highAtomic })
    return document
  } catch (error) {
    await plans.drop(planId)
    throw error
  }
}

/** Returns the plan without saving it. */
async function measure(context: Context, options: PlanOptions) {
  const { runs, tasks, database, config, now } = context
  const { run, connector, source, planId } = options
  const settings = { ...context.planning, runs }
  const records = await scan(run, connector, settings, source)
  const { unique, cached, duplicates } = await planFigures(database.db, run.id, now())
  const counts = await tasks.counts(run.id)
  const leftOut = await tasks.leftOut(run.id)
  const outcomesOf = createPlanOutcomes(counts, await tasks.reasons(run.id))
  const plans = createPlanLedger(database.db, { now })
  const recipe = config.recipes(run.object, run.recipe)
  const wanted = new Set<LookupKey>()
  const costs = createCosts(recipe)
  const steps = paidSteps(recipe)
  const experience = createExperience({
    answers: await seenAnswers(
      database.db,
      steps.map((slot) => slotRow(slot).operation),
    ),
    chains: await seenChains(database.db),
  })
  const means = meansOf(config)
  const expected = createExpected(recipe, means, experience)
  const preview = { records: 0, fields: {} as Record<string, number>, rows: [] as PreviewRow[] }
  for (let after = 0; ;) {
    const page = await plans.tasks(run.id, after, pageSize)
    const last = page.at(-1)
    if (!last) break
    after = last.ordinal
    const previews = await previewPlan(context, connector, run, recipe, page)
    for (const each of previews) {
      outcomesOf.add(each)
      if (each.wanted) wanted.add(each.wanted)
      if (each.cost) costs.add(each.cost)
      if (each.cost && each.from) expected.add(each.from.record, each.from.facts, each.cost, each.from.known)
      if (!each.preview) continue
      preview.records += 1
      for (const field of Object.keys(each.preview)) preview.fields[field] = (preview.fields[field] ?? 0) + 1
      if (preview.rows.length < shownRows)
        preview.rows.push({ record: each.task.recordId, fields: each.preview })
    }
    if (planId !== undefined) {
      await plans.describe(
        planId,
        previews.map((each) => ({
          ordinal: each.task.ordinal,
          lookupKey: each.wanted ?? each.task.lookupKey,
          // Blank for a record that needs no lookup and gets no value, which is no sample of the plan.
          preview: each.preview ?? (each.wanted === undefined && each.task.lookupKey !== null ? {} : null),
        })),
      )
    }
  }
  const bounds = costs.sum()
  const money = planCost({
    bounds,
    expected: expected.sum(),
    experience,
    prices: means.prices,
    caps: means.caps,
    limits: lessPlanned(await spendLimits(context, run), options.plannedAtomic ?? 0n),
    refusals: await options.refusals(),
    steps,
  })
  const toBuy = wanted.size
  const { outcomes, reasons } = outcomesOf.sum()
  const plan: RunPlan = {
    plan: true,
    object: run.object,
    connector: connector.name,
    records,
    lookups: { unique, cached, duplicates, toBuy },
    tasks: { skipped: outcomes.skipped, rejected: outcomes.rejected },
    outcomes,
    ...money,
    preview: preview.records > 0 ? preview : undefined,
    leftOut: leftOut.length > 0 ? leftOut : undefined,
    reasons: reasons.length > 0 ? reasons : undefined,
  }
  // `apply` may run on a later day, with other budgets, so it keeps to the cost of the lookups.
  return { plan, toBuy, highAtomic: bounds.highAtomic }
}

interface PreviewRow {
  record: string
  fields: Preview
}

/** Returns a digest of the identity that a record is looked up by. Salted, because a digest of an address alone could be guessed. */
export function recordDigest({ identity, unreadable }: SourceRecord, salt: string): string {
  const named = Object.entries(identity).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([salt, named, unreadable ?? null]))
    .digest('hex')
    .slice(0, 32)
}

/** Returns a digest of the rules that decide what is bought and written. With other rules a plan is no longer valid. */
export function rulesDigest(
  { config }: Pick<Context, 'config'>,
  run: Pick<Run, 'connector' | 'object' | 'recipe'>,
): string {
  const settings = isCrmName(run.connector) ? config.connectors[run.connector] : undefined
  const rules = [config.recipes(run.object, run.recipe), config.policies, settings?.mapping ?? null]
  return createHash('sha256')
    .update(JSON.stringify(rules, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)))
    .digest('hex')
}
