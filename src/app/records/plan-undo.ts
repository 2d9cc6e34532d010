import type { Context } from '../context/context.ts'
import { openConnector } from '../context/connectors.ts'
import { undoNotes } from '../notes/undo-notes.ts'
import { isOfMatch, undoMatch, type UndoneMatch } from './undo-match.ts'
import { undoableRun, undoRun, type Undone } from './undo.ts'
import { assertNoField, makesRecords, undoMade, type UndoneRecords } from './undo-made.ts'

/** Returns what an undo of a run would do now; undefined for a run whose source keeps no values. Writes nothing. */
export async function planUndo(
  context: Pick<Context, 'config' | 'runs' | 'fieldWrites' | 'now' | 'database' | 'recordIndex'>,
  runId: string,
  field?: string,
): Promise<Undone | UndoneRecords | UndoneMatch | undefined> {
  const run = await undoableRun(context, runId)
  if (!run) return undefined
  const connector = await openConnector(context.config, run.connector, undefined)
  try {
    const { signal } = new AbortController()
    if (isOfMatch(run) || makesRecords(run)) assertNoField(run.id, field)
    if (isOfMatch(run)) return await undoMatch(context, connector, run, { plan: true, signal })
    const notes =
      field === undefined ? await undoNotes(context, connector, run.id, { plan: true, signal }) : undefined
    const undone = makesRecords(run)
      ? await undoMade(context, connector, run, { plan: true, signal, notes })
      : await undoRun(context, connector, run, { plan: true, field, signal })
    return { ...undone, ...(notes && { notes }) }
  } finally {
    await connector.close()
  }
}
