import type { Context } from '../app/context/context.ts'
import { openConnector } from '../app/context/connectors.ts'
import { undoNotes, type UndoneNotes } from '../app/notes/undo-notes.ts'
import { assertNoField, makesRecords, undoMade } from '../app/records/undo-made.ts'
import { isOfMatch, undoMatch } from '../app/records/undo-match.ts'
import { undoableRun, undoRun } from '../app/records/undo.ts'
import { createAuditLog, type AuditedAction } from '../store/access/audit.ts'
import type { UndoResult } from './types.ts'

interface UndoJob {
  runId: string
  field: string | undefined
  signal: AbortSignal
  /** The name for the audit log. */
  actor: { actor: string; role: string }
}

/** Takes back a run of any kind, and notes its begin and its end in the audit log. */
export async function takeBackRun(context: Context, job: UndoJob): Promise<UndoResult> {
  const { runId, field, signal, actor } = job
  const run = await undoableRun(context, runId)
  if (!run) return undefined
  const audit = createAuditLog(context.database.db, { now: context.now })
  const note = (action: string, details?: AuditedAction['details']) =>
    audit.record({ ...actor, action, target: runId, ...(details && { details }) })
  const connector = await openConnector(context.config, run.connector, context)
  try {
    if (isOfMatch(run) || makesRecords(run)) assertNoField(runId, field)
    const of = field === undefined ? {} : { field }
    await note('run.undo', of)
    if (isOfMatch(run)) {
      const undone = await undoMatch(context, connector, run, { plan: false, signal })
      await note('run.undone', { runs: undone.runs.length, ...notesFigures(undone.notes), ...rest(undone) })
      return undone
    }
    const notes =
      field === undefined ? await undoNotes(context, connector, runId, { plan: false, signal }) : undefined
    if (makesRecords(run)) {
      const made = await undoMade(context, connector, run, { plan: false, signal, notes })
      const { archived, already, left } = made
      await note('run.undone', { archived, already, left, ...notesFigures(notes), ...rest(made) })
      return { ...made, ...(notes && { notes }) }
    }
    const undone = await undoRun(context, connector, run, { plan: false, signal, field })
    const { restored, already, left } = undone
    await note('run.undone', { ...of, restored, already, left, ...notesFigures(notes), ...rest(undone) })
    return { ...undone, ...(notes && { notes }) }
  } finally {
    await connector.close()
  }
}

function rest({ unfinished }: { unfinished?: string | undefined }): { unfinished?: string } {
  return unfinished === undefined ? {} : { unfinished }
}

function notesFigures(notes: UndoneNotes | undefined): Record<string, number> {
  return notes ? { notesRemoved: notes.removed, notesLeft: notes.left } : {}
}
