import type { Context } from '../context/context.ts'
import { openConnector } from '../context/connectors.ts'
import { undoableRun, undoRun, type Undone } from './undo.ts'
import { assertNoField, makesRecords, undoMade, type UndoneRecords } from './undo-made.ts'

/** Returns what an undo of a run would do now; undefined for a run whose source keeps no values. Writes nothing. */
export async function planUndo(
  context: Pick<Context, 'config' | 'runs' | 'fieldWrites' | 'now' | 'database' | 'recordIndex'>,
  runId: string,
  field?: string,
): Promise<Undone | UndoneRecords | undefined> {
  const run = await undoableRun(context, runId)
  if (!run) return undefined
  const connector = await openConnector(context.config, run.connector, undefined)
  try {
    if (makesRecords(run)) {
      assertNoField(run.id, field)
      return await undoMade(context, connector, run, { plan: true, signal: new AbortController().signal })
    }
    return await undoRun(context, connector, run, {
      plan: true,
      field,
      signal: new AbortController().signal,
    })
  } finally {
    await connector.close()
  }
}
