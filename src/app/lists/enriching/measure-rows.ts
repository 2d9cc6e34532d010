import type { Connector } from '../../../connectors/connector.ts'
import type { Atomic } from '../../../domain/money.ts'
import type { Context } from '../../context/context.ts'
import { newRunId } from '../../context/new-id.ts'
import { makePlan } from '../../plans/make-plan.ts'
import type { RunPlan } from '../../plans/plan-text.ts'
import type { JudgedRun } from '../../runs/left-out.ts'
import { plannedRefusals } from '../../runs/preflight.ts'

/** Plans the lookups of a run that reads from `connector`. Pays nothing, and leaves no run behind. */
export async function measureRows(
  context: Context,
  connector: Connector,
  judged: JudgedRun,
  plannedAtomic?: Atomic,
): Promise<RunPlan> {
  const { run } = await context.runs.open({
    id: newRunId(context),
    ...judged,
    trigger: 'list',
    state: 'planned',
    fingerprint: `measured|${newRunId(context)}`,
  })
  try {
    return await makePlan(context, {
      kind: 'sync',
      connector,
      run,
      source: {},
      job: {},
      plannedAtomic,
      refusals: () => plannedRefusals(context, connector, judged),
    })
  } finally {
    await context.runs.dropPlanned(run.id)
  }
}
