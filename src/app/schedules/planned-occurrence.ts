import type { Connector, ScanOptions } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import { ledgerId } from '../../store/database/meta.ts'
import { createPlanLedger } from '../../store/plans/plans.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Context } from '../context/context.ts'
import { onlyPlanned, plannedSource } from '../plans/planned-scan.ts'
import { advanceWatermark, sourceOf, type SyncJob } from '../runs/sync.ts'

/** The reading of an occurrence of a plan: the records of the plan, from where the plan began, and nothing else. */
export interface PlanScan {
  connector: Connector
  source: Omit<ScanOptions, 'signal'>
  /** The place in the source behind the plan's last record; null when it had none. */
  through: string | null
}

/** Throws ConfigError `no_such_plan` when the plan is gone: then nobody knows any more which records were agreed to. */
export async function planScan(context: Context, connector: Connector, planId: string): Promise<PlanScan> {
  const plans = createPlanLedger(context.database.db, { now: context.now })
  const plan = await plans.get(planId)
  if (!plan) throw new ConfigError('no_such_plan', `plan ${planId} is gone: make a new one`)
  const salt = await ledgerId(context.database.db, context.randomBytes)
  const tally = { same: 0, changed: 0, total: await plans.countRecords(planId) }
  const { through } = plan.document
  return {
    connector: onlyPlanned(connector, plan, plans, salt, tally),
    source: plannedSource(plan),
    through: typeof through === 'string' ? through : null,
  }
}

/**
 * Moves the watermark to where the plan ended, unless another sync has moved it since. A record that has changed after the
 * plan was made is behind that place, so the next sync reads it.
 */
export async function passPlanned(
  context: Context,
  connector: Connector,
  job: SyncJob,
  run: Run,
  { through, source }: PlanScan,
): Promise<void> {
  if (through === null) return
  const { after } = await sourceOf(context, connector, job, AbortSignal.abort())
  if (after === source.after) await advanceWatermark(context, connector, job, run, through)
}
