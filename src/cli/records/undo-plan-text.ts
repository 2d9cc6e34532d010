import type { Undone, UndoRow } from '../../app/records/undo.ts'
import type { FieldValue } from '../../domain/record.ts'
import { notesLines } from './undone-notes-text.ts'
import { counted } from '../../domain/values/counted.ts'

const mostRecords = 50
const longestValue = 60

/** Returns the plan of an undo for a person: each field of each record, with what it has and what it would have. */
export function undoPlanText({
  runId,
  connector,
  entity,
  rows,
  notes,
  unfinished,
  ...counts
}: Undone): string {
  const records = [...Map.groupBy(rows, ({ record }) => record)]
  const more = records.length - mostRecords
  const lines = [
    `run ${runId}: ${counted(counts.restored, 'field')} would be restored, ${counts.left} not touched${counts.already > 0 ? `, ${counts.already} already have the old value` : ''}`,
    ...records
      .slice(0, mostRecords)
      .flatMap(([record, fields]) => [
        `${connector}:${entity}:${record}${mergedInto(fields)}`,
        ...fields.map((row) => `  ${row.field.padEnd(widest(fields))}  ${fieldText(row)}`),
      ]),
    ...(more > 0 ? [`and ${counted(more, 'more record')} (--json shows all)`] : []),
    ...notesLines(notes),
    ...(unfinished === undefined ? [] : [`not complete: ${unfinished}; ask for the plan again`]),
    'nothing was written',
  ]
  return `${lines.join('\n')}\n`
}

function fieldText({ outcome, old = null, new: wrote = null, now = null, reason }: UndoRow): string {
  if (outcome === 'would_restore') return `${shown(now)} → ${shown(old)}`
  if (outcome === 'already') return `has ${shown(now)} already`
  return `not touched, ${reason ?? ''}: has ${shown(now)}, the run wrote ${wrote === null ? '(erased)' : shown(wrote)} over ${shown(old)}`
}

function mergedInto(fields: readonly UndoRow[]): string {
  const into = fields.find((row) => row.mergedInto !== undefined)?.mergedInto
  return into === undefined ? '' : ` (merged into ${into})`
}

function widest(fields: readonly UndoRow[]): number {
  return Math.max(...fields.map(({ field }) => field.length))
}

function shown(value: FieldValue | null): string {
  if (value === null) return '(blank)'
  const text = JSON.stringify(value)
  return text.length > longestValue ? `${text.slice(0, longestValue - 1)}…` : text
}
