import { relative } from 'node:path'
import type { ColumnMap } from '../../connectors/csv/index.ts'
import type { Connector } from '../../connectors/connector.ts'
import { creditsFromUsd } from '../../domain/credits.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { ledgerId } from '../../store/database/meta.ts'
import { countWithReason } from '../../store/views/record-tasks.ts'
import { createPlanLedger, type Plan, type PlanLedger } from '../../store/plans/plans.ts'
import { capByPlan } from '../../store/runs/plan-cap.ts'
import type { Run } from '../../store/runs/runs.ts'
import { applyCommandOf, claimOutput, freeOutputName } from './csv-output.ts'
import { enrichCsv, openInput, planCsv } from './enrich-csv.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { makePlan, rulesDigest } from '../plans/make-plan.ts'
import { changedReason, onlyPlanned, plannedSource } from '../plans/planned-scan.ts'
import type { JudgedRun } from './left-out.ts'
import { prepareStart } from './preflight.ts'
import type { Progress } from './run-progress.ts'
import { runToEnd, type RunEnd } from './run-to-end.ts'
import { summarise, type RunSummary } from './summary.ts'

export interface ApplyOptions {
  /** The path of the enriched file; needed for the plan of a CSV. */
  out: string | undefined
  /** True when any file at `out` is replaced. */
  force?: boolean | undefined
  /** Opens the CRM of a sync's plan. */
  openConnector: (name: string) => Promise<Connector>
  signal: AbortSignal
  onProgress?: ((progress: Progress) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

export interface Applied {
  planId: string
  end: RunEnd
  summary: RunSummary
  /** Records that have changed since the plan was made: nothing was bought or written for them. */
  drifted: number
}

/** Returns a plan that can be carried out. Throws ConfigError when there is none of this id, or it was carried out before. */
export async function readPlan(
  context: Pick<Context, 'database' | 'runs' | 'now'>,
  id: string,
): Promise<Plan> {
  const plan = await createPlanLedger(context.database.db, { now: context.now }).get(id)
  if (!plan) throw new ConfigError('no_such_plan', `there is no plan ${id}; \`--plan\` makes one`)
  const run = plan.runId === null ? undefined : await context.runs.get(plan.runId)
  if (run?.state === 'finished')
    throw new ConfigError('plan_applied', `plan ${id} was carried out as run ${run.id}; make a new one`)
  return plan
}

/** Returns the settings for a plan: no lookup costs more than its planned price, and all together no more than its cost. */
export function withinPlan(config: Config, plan: Plan): Config {
  const { policy, caps } = config
  const least = (a: bigint, b: bigint) => (a < b ? a : b)
  const highCredits = creditsFromUsd(plan.highAtomic)
  return {
    ...config,
    policy: { ...policy, maxPriceAtomic: least(policy.maxPriceAtomic, plan.priceAtomic) },
    caps: {
      ...caps,
      runAtomic: least(caps.runAtomic, plan.highAtomic),
      creditsRun: config.apiKey ? least(caps.creditsRun ?? highCredits, highCredits) : caps.creditsRun,
    },
  }
}

/**
 * Carries out a plan: its records, its lookups, at its cost. Throws ConfigError `plan_drifted` before anything is bought when
 * the file or the rules have changed, or more would have to be bought. A CRM record that has changed is left out, and the
 * others are enriched. The context must have been made with `withinPlan`. An interrupted plan continues its own run.
 */
export async function applyPlan(context: Context, plan: Plan, options: ApplyOptions): Promise<Applied> {
  const rules = rulesDigest(context, plan)
  if (rules !== plan.job['rules']) throw drifted(plan, 'the recipe or the policies have changed since')
  const plans = createPlanLedger(context.database.db, { now: context.now })
  if (plan.kind === 'list') throw drifted(plan, 'it makes records of a list, which another command does')
  return plan.kind === 'csv'
    ? applyCsv(context, plan, plans, options)
    : applySync(context, plan, plans, options)
}

async function applyCsv(
  context: Context,
  plan: Plan,
  plans: PlanLedger,
  { out, force = false, signal, onProgress, onNotice }: ApplyOptions,
): Promise<Applied> {
  const path = String(plan.job['path'])
  if (out === undefined) {
    const command = applyCommandOf(plan.id, await freeOutputName(relative(process.cwd(), path)), { force })
    throw new ConfigError('no_out', `--out <file> says where the enriched CSV goes: ${command}`)
  }
  const { map, encoding } = plan.job as { map?: ColumnMap; encoding?: string }
  const csv = await openInput(context.config, { input: path, object: plan.object, map, encoding })
  if (csv.sha256 !== plan.job['sha256']) throw drifted(plan, `${csv.path} has changed since`)
  if (plan.runId === null)
    refuseMore(plan, (await planCsv(context, csv, { recipe: plan.recipe })).lookups.toBuy)
  const { replace } = await claimOutput(context, csv, out, { force })
  const result = await enrichCsv(context, csv, {
    out,
    replace,
    signal,
    recipe: plan.recipe,
    planId: plan.id,
    onOpened: (run) => plans.setRun(plan.id, run.id),
    onProgress,
    onNotice,
  })
  return { planId: plan.id, ...result, drifted: 0 }
}

async function applySync(
  context: Context,
  plan: Plan,
  plans: PlanLedger,
  options: ApplyOptions,
): Promise<Applied> {
  const connector = await options.openConnector(plan.connector)
  try {
    const salt = await ledgerId(context.database.db, context.randomBytes)
    const total = await plans.countRecords(plan.id)
    const planned = () => onlyPlanned(connector, plan, plans, salt, { same: 0, changed: 0, total })
    const source = plannedSource(plan)
    if (plan.runId === null) {
      const run = await openRun(context, plan, 'planned')
      try {
        const { lookups } = await makePlan(context, {
          kind: 'sync',
          connector: planned(),
          run,
          source,
          job: {},
          refusals: async () => [],
        })
        refuseMore(plan, lookups.toBuy)
      } finally {
        await context.runs.dropPlanned(run.id)
      }
    }
    const prepared = await prepareStart(context, connector, newRun(plan), options.onNotice)
    const run = await openRun(context, plan, 'scanning')
    await plans.setRun(plan.id, run.id)
    // This process keeps to the plan by its own settings. Workers that continue an interrupted run have others.
    await capByPlan(context.database.db, run.id, plan.highAtomic)
    const end = await runToEnd(context, {
      prepared,
      run,
      connector: planned(),
      source,
      signal: options.signal,
      onProgress: options.onProgress,
      onNotice: options.onNotice,
    })
    const summary = await summarise(context, run)
    const changed =
      summary.records === 0 ? 0 : await countWithReason(context.database.db, run.id, changedReason)
    return { planId: plan.id, end, summary, drifted: total - summary.records + changed }
  } finally {
    await connector.close()
  }
}

async function openRun(context: Context, plan: Plan, state: 'planned' | 'scanning'): Promise<Run> {
  const { run } = await context.runs.open({
    id: newRunId(context),
    ...newRun(plan),
    trigger: 'apply',
    state,
    // Different from a sync's fingerprint: neither may continue the other's scan.
    fingerprint: `plan|${plan.id}`,
  })
  return run
}

function newRun({ id, connector, object, entity, recipe }: Plan): JudgedRun {
  return { connector, object, entity, recipe, source: { plan: id, entity } }
}

function refuseMore(plan: Plan, toBuy: number): void {
  if (toBuy <= plan.toBuy) return
  throw drifted(
    plan,
    `${counted(toBuy, 'lookup')} would have to be bought now, and ${plan.toBuy} ${plan.toBuy === 1 ? 'was' : 'were'} planned (at most ${formatUsd(plan.highAtomic)} USD)`,
  )
}

export function drifted(plan: Plan, why: string): ConfigError {
  return new ConfigError('plan_drifted', `plan ${plan.id} is not carried out: ${why}. Make a new plan.`)
}
