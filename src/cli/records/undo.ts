import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import { openConnector } from '../../app/context/connectors.ts'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import { undoNotes } from '../../app/notes/undo-notes.ts'
import { notesFigures, notesLines } from './undone-notes-text.ts'
import { undoableRun, undoRun, type Undone } from '../../app/records/undo.ts'
import { assertNoField, makesRecords, undoMade } from '../../app/records/undo-made.ts'
import type { Context } from '../../app/context/context.ts'
import type { Connector } from '../../connectors/connector.ts'
import type { Run } from '../../store/runs/runs.ts'
import { isOfMatch, undoMatch, type UndoneMatch } from '../../app/records/undo-match.ts'
import { undoPlanText } from './undo-plan-text.ts'
import { undoneRecordsText } from './undone-records-text.ts'
import { exitStatus } from '../terminal/exit.ts'
import { readConfig, stopSignal, withContext } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'
import { counted } from '../../domain/values/counted.ts'

interface Options {
  field?: string
  plan?: true
  json?: true
}

export async function undo(runId: string, options: Options): Promise<void> {
  if (options.plan) return showPlan(runId, options)
  const signal = stopSignal()
  await withContext(async (context) => {
    const undoable = await undoableRun(context, runId)
    if (!undoable) {
      print(nothingToUndo(runId, options))
      return
    }
    const connector = await openConnector(context.config, undoable.connector, context)
    try {
      if (isOfMatch(undoable)) {
        assertNoField(runId, options.field)
        await takeBackMatch(context, connector, undoable, options, signal)
        return
      }
      if (makesRecords(undoable)) {
        assertNoField(runId, options.field)
        await takeBack(context, connector, undoable, options, signal)
        return
      }
      const details = options.field === undefined ? {} : { field: options.field }
      await noteFromCli(context, 'run.undo', { target: runId, details })
      const notes =
        options.field === undefined
          ? await undoNotes(context, connector, runId, { plan: false, signal })
          : undefined
      const undone = {
        ...(await undoRun(context, connector, undoable, { plan: false, signal, field: options.field })),
        ...(notes && { notes }),
      }
      const { restored, already, left, unfinished } = undone
      await noteFromCli(context, 'run.undone', {
        target: runId,
        details: {
          ...details,
          restored,
          already,
          left,
          ...notesFigures(notes),
          ...(unfinished === undefined ? {} : { unfinished }),
        },
      })
      print(options.json ? `${JSON.stringify(undone)}\n` : text(undone))
      if ((undone.unfinished ?? notes?.unfinished) !== undefined)
        process.exitCode = signal.aborted ? exitStatus.interrupted : exitStatus.parked
    } finally {
      await connector.close()
    }
  })
}

async function takeBack(
  context: Context,
  connector: Connector,
  run: Run,
  { json }: Options,
  signal: AbortSignal,
): Promise<void> {
  await noteFromCli(context, 'run.undo', { target: run.id })
  const notes = await undoNotes(context, connector, run.id, { plan: false, signal })
  const undone = {
    ...(await undoMade(context, connector, run, { plan: false, signal, notes })),
    ...(notes && { notes }),
  }
  const { archived, already, left, unfinished } = undone
  await noteFromCli(context, 'run.undone', {
    target: run.id,
    details: {
      archived,
      already,
      left,
      ...notesFigures(notes),
      ...(unfinished === undefined ? {} : { unfinished }),
    },
  })
  print(json ? `${JSON.stringify(undone)}\n` : undoneRecordsText(undone))
  if ((unfinished ?? notes?.unfinished) !== undefined)
    process.exitCode = signal.aborted ? exitStatus.interrupted : exitStatus.parked
}

async function takeBackMatch(
  context: Context,
  connector: Connector,
  run: Run,
  { json }: Options,
  signal: AbortSignal,
): Promise<void> {
  await noteFromCli(context, 'run.undo', { target: run.id })
  const undone = await undoMatch(context, connector, run, { plan: false, signal })
  const { unfinished, notes } = undone
  await noteFromCli(context, 'run.undone', {
    target: run.id,
    details: {
      runs: undone.runs.length,
      ...notesFigures(notes),
      ...(unfinished === undefined ? {} : { unfinished }),
    },
  })
  print(json ? `${JSON.stringify(undone)}\n` : matchText(undone))
  if (unfinished !== undefined) process.exitCode = signal.aborted ? exitStatus.interrupted : exitStatus.parked
}

/** Returns the undo of a match in words: that of each of its runs, in the order in which they were taken back. */
function matchText({ runId, monitor, plan, runs, notes }: UndoneMatch): string {
  const parts = runs.map((each) =>
    'kind' in each ? undoneRecordsText(each) : each.plan ? undoPlanText(each) : text(each),
  )
  const head = `match ${runId} of monitor ${monitor}${plan ? ', nothing is written' : ''}: ${counted(runs.length, 'run')}\n`
  return [head, ...notesLines(notes).map((line) => `${line}\n`), ...parts].join('')
}

async function showPlan(runId: string, options: Options): Promise<void> {
  const plan = await queryLedger(await readConfig(), 'undoPlan', { run: runId, field: options.field })
  if (!plan) print(nothingToUndo(runId, options))
  else if (options.json) print(`${JSON.stringify(plan)}\n`)
  else if ('kind' in plan) print(plan.kind === 'match' ? matchText(plan) : undoneRecordsText(plan))
  else print(undoPlanText(plan))
  if ((plan?.unfinished ?? plan?.notes?.unfinished) !== undefined) process.exitCode = exitStatus.parked
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
