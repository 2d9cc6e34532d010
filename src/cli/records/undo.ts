import type { Undone } from '../../app/records/undo.ts'
import type { UndoneMatch } from '../../app/records/undo-match.ts'
import { notesLines } from './undone-notes-text.ts'
import { undoPlanText } from './undo-plan-text.ts'
import { undoneRecordsText } from './undone-records-text.ts'
import { exitStatus } from '../terminal/exit.ts'
import { stopSignal, withPaydirt } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'
import { counted } from '../../domain/values/counted.ts'

interface Options {
  field?: string
  plan?: true
  json?: true
}

export async function undo(runId: string, options: Options): Promise<void> {
  const { field, plan = false, json } = options
  const signal = plan ? undefined : stopSignal()
  const undone = await withPaydirt((paydirt) => paydirt.undo(runId, { field, plan, signal }))
  if (!undone) print(nothingToUndo(runId, options))
  else if (json) print(`${JSON.stringify(undone)}\n`)
  else if ('kind' in undone) print(undone.kind === 'match' ? matchText(undone) : undoneRecordsText(undone))
  else print(undone.plan ? undoPlanText(undone) : text(undone))
  if ((undone?.unfinished ?? undone?.notes?.unfinished) !== undefined)
    process.exitCode = signal?.aborted ? exitStatus.interrupted : exitStatus.parked
}

/** Returns the undo of a match in words: that of each of its runs, in the order in which they were taken back. */
function matchText({ runId, monitor, plan, runs, notes }: UndoneMatch): string {
  const parts = runs.map((each) =>
    'kind' in each ? undoneRecordsText(each) : each.plan ? undoPlanText(each) : text(each),
  )
  const head = `match ${runId} of monitor ${monitor}${plan ? ', nothing is written' : ''}: ${counted(runs.length, 'run')}\n`
  return [head, ...notesLines(notes).map((line) => `${line}\n`), ...parts].join('')
}

function nothingToUndo(runId: string, { json }: Options): string {
  const reason = 'nothing was written into its source: there is nothing to undo'
  return json
    ? `${JSON.stringify({ runId, restored: 0, already: 0, left: 0, rows: [], reason })}\n`
    : `${runId}: ${reason}\n`
}

const shown = 50

function text({ runId, restored, already, left, rows: leftRows, notes, unfinished }: Undone): string {
  const lines = [
    `run ${runId}: ${counted(restored, 'field')} restored, ${left} not touched${already > 0 ? `, ${already} already had the old value` : ''}`,
    ...leftRows
      .slice(0, shown)
      .map(({ record, field, reason }) => `  not touched: ${record} ${field}: ${reason ?? ''}`),
  ]
  lines.push(...notesLines(notes))
  if (leftRows.length > shown) lines.push(`  and ${leftRows.length - shown} more (--json shows all)`)
  if (unfinished !== undefined) lines.push(`not finished: ${unfinished}; run the same command to continue`)
  return `${lines.join('\n')}\n`
}
