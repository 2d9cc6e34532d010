import { newRunId } from '../context/new-id.ts'
import type { Context } from '../context/context.ts'
import type { PlannedCall } from './plan-call.ts'

/** The name under which calls stand in the ledger: they belong to no CRM. Budgets a connector hold for it too. */
export const callConnector = 'service'

/**
 * Opens the run under which a call is paid for. Nothing is scanned for it. No intent is written and nothing is sent before it
 * returns: killed at any point in here, the run is open in the ledger, has bought nothing, and is found by its fingerprint when
 * the same call is made again. So is the run of a call that was killed later, with its lookup.
 */
export async function openCallRun(
  context: Pick<Context, 'runs' | 'now' | 'randomBytes'>,
  { operation, key }: PlannedCall,
  list?: string,
): Promise<{ id: string }> {
  const { runs } = context
  const { run } = await runs.open({
    id: newRunId(context),
    connector: callConnector,
    object: 'company',
    entity: operation,
    recipe: operation,
    trigger: 'call',
    // A list has a run of its own for each beginning: what is paid counts in its month.
    fingerprint: list === undefined ? `call|${key}` : `call|${key}|${list}`,
    source: { operation, ...(list === undefined ? {} : { list }) },
  })
  await runs.markScanned(run.id)
  await runs.setState(run.id, 'working')
  return { id: run.id }
}
