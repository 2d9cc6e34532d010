import { ConfigError, describeError, InputError } from '../../domain/errors.ts'
import type { PlannedSync, SyncPlan, SyncPlansPort } from '../../http/desk/model/sync-plan.ts'
import { createPlanLedger } from '../../store/plans/plans.ts'
import { planSample } from '../../store/plans/plan-sample.ts'
import { pause } from '../../timing/pause.ts'
import { configuredCrms } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { newPlanId } from '../context/new-id.ts'
import type { RunPlan } from '../plans/plan-text.ts'
import { planSync } from '../runs/sync.ts'
import { withConnector } from '../context/connectors.ts'
import { isPlainSync, limitOf, planHoldsMs, startPlan } from '../schedules/start-plan.ts'
import { moduleLog } from '../context/log.ts'

/** A plan reads its records from the CRM, whose calls the runs need too. */
const plansAtOnce = 2
const sampleRecords = 10
/** The longest that a request for a plan waits for the plan's row, so that every web process can show it. */
const rowWithinMs = 5_000
const problemsKept = 50

/**
 * Returns the plans that this process makes and reads. A plan is made in the background: it may take minutes for a large
 * CRM. Its row in the ledger is what every process shows; only why it failed is known to the process that made it.
 */
export function openSyncPlans(
  context: Context,
  signal: AbortSignal,
): SyncPlansPort & { idle(): Promise<void> } {
  const plans = createPlanLedger(context.database.db, { now: context.now })
  const making = new Map<string, { planId: string; done: Promise<void> }>()
  const failed = new Map<string, { wanted: PlannedSync; problem: string; at: Date }>()

  async function plan(wanted: PlannedSync, planId: string): Promise<void> {
    const { connector, ...job } = wanted
    try {
      await withConnector(context, connector, (open) =>
        planSync(context, open, { ...job, filter: [] }, signal, planId),
      )
      // A scan that was cut off has read a part of the records, which is no plan.
      if (signal.aborted) await plans.drop(planId)
    } catch (error) {
      failed.set(planId, { wanted, problem: describeError(error), at: context.now() })
      for (const old of [...failed.keys()].slice(0, -problemsKept)) failed.delete(old)
      moduleLog(context.log, 'web').warn(
        { plan: planId, problem: describeError(error) },
        'a plan could not be made',
      )
    }
  }

  return {
    choices: () =>
      configuredCrms(context.config).flatMap((connector) =>
        Object.entries(context.connectors.get(connector)?.entities ?? {}).map(([entity, object]) => ({
          connector,
          entity,
          recipes: context.config.recipeNames[object],
          defaultRecipe: context.config.defaultRecipe,
        })),
      ),

    async make(wanted) {
      const question = JSON.stringify([wanted.connector, wanted.entity, wanted.recipe, wanted.limit ?? null])
      const known = making.get(question)
      if (known) return { planId: known.planId }
      if (making.size >= plansAtOnce)
        throw new InputError(
          'plans_busy',
          `${plansAtOnce} plans are being made: wait until one of them is ready`,
        )
      const planId = newPlanId(context)
      const done = plan(wanted, planId).finally(() => making.delete(question))
      making.set(question, { planId, done })
      const givesUp = AbortSignal.any([signal, AbortSignal.timeout(rowWithinMs)])
      while (making.get(question)?.planId === planId && !givesUp.aborted) {
        if (await plans.get(planId)) break
        await pause(50, givesUp)
      }
      return { planId }
    },

    async read(planId) {
      const failure = failed.get(planId)
      const base = { id: planId, runId: undefined, figures: undefined, sample: [], isForDesk: true }
      if (failure) {
        const { wanted, problem, at } = failure
        return { ...base, ...wanted, madeAt: at, records: 0, problem, holdsUntil: at }
      }
      const stored = await plans.get(planId)
      if (!stored || stored.kind !== 'sync') return undefined
      const isMade = stored.document['plan'] === true
      return {
        ...base,
        connector: stored.connector,
        entity: stored.entity,
        recipe: stored.recipe,
        limit: limitOf(stored) ?? undefined,
        madeAt: stored.madeAt,
        problem: undefined,
        records: await plans.countRecords(planId),
        runId: stored.runId ?? undefined,
        figures: isMade ? (stored.document as unknown as RunPlan) : undefined,
        sample: isMade ? await planSample(context.database.db, planId, sampleRecords) : [],
        isForDesk: isPlainSync(stored),
        holdsUntil: new Date(stored.madeAt.getTime() + planHoldsMs),
      } satisfies SyncPlan
    },

    async start(planId, by) {
      if (failed.has(planId)) throw new ConfigError('no_such_plan', `plan ${planId} could not be made`)
      return startPlan(context, planId, by)
    },

    async idle() {
      await Promise.all([...making.values()].map(({ done }) => done))
    },
  }
}
