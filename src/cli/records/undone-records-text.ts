import type { UndoneRecord, UndoneRecords } from '../../app/records/undo-made.ts'
import { notesLines } from './undone-notes-text.ts'
import { counted } from '../../domain/values/counted.ts'

const shown = 50

/** Returns the records of a list's run that were or would be archived, for a person. */
export function undoneRecordsText(undone: UndoneRecords): string {
  const { runId, connector, plan, archived, already, left, rows, notes, bin, unfinished } = undone
  const lines = [
    `run ${runId}: ${counted(archived, 'record')} ${plan ? 'would be archived' : 'archived'}, ${left} left in the CRM${already > 0 ? `, ${already} gone already` : ''}`,
    ...rows
      .slice(0, shown)
      .map((row) => `  ${connector}:${row.entity}:${row.record ?? '?'}  ${wordsOf(row)}`),
    ...(rows.length > shown ? [`  and ${rows.length - shown} more (--json shows all)`] : []),
    ...notesLines(notes),
    `archived records are kept for ${bin.keptDays} days: ${bin.place}`,
    ...(unfinished === undefined ? [] : [`not finished: ${unfinished}; run the same command to continue`]),
    ...(plan ? ['nothing was archived'] : []),
  ]
  return `${lines.join('\n')}\n`
}

function wordsOf({ outcome, reason }: UndoneRecord): string {
  if (outcome === 'left') return `left: ${reason ?? ''}`
  if (outcome === 'already') return reason ?? 'archived already'
  return 'would be archived'
}
