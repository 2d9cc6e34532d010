import type { UndoneNotes } from '../../app/notes/undo-notes.ts'

const shown = 50

/** Returns the lines about the notes and tasks of an undone run; none where it has none. */
export function notesLines(notes: UndoneNotes | undefined): string[] {
  if (!notes) return []
  const { removed, already, left, rows, unfinished } = notes
  const isPlan = rows.some(({ outcome }) => outcome === 'would_remove')
  return [
    `notes and tasks: ${removed} ${isPlan ? 'would be removed' : 'removed'}, ${left} left in the CRM${already > 0 ? `, ${already} gone already` : ''}`,
    ...rows
      .slice(0, shown)
      .map(
        ({ kind, entity, record, note, outcome, reason }) =>
          `  ${kind} ${note ?? '?'} of ${entity}:${record}  ${outcome === 'left' ? `left: ${reason ?? ''}` : outcome === 'already' ? (reason ?? 'gone already') : 'would be removed'}`,
      ),
    ...(rows.length > shown ? [`  and ${rows.length - shown} more (--json shows all)`] : []),
    ...(unfinished === undefined
      ? []
      : [`notes not finished: ${unfinished}; run the same command to continue`]),
  ]
}
