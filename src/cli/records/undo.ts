import { noteFromCli } from '../../app/context/audit-from-cli.ts'
import { openConnector } from '../../app/context/connectors.ts'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import { undoableRun, undoRun, type Undone } from '../../app/records/undo.ts'
import { assertNoField, makesRecords, undoMade } from '../../app/records/undo-made.ts'
import type { Context } from '../../app/context/context.ts'
import type { Connector } from '../../connectors/connector.ts'
import type { Run } from '../../store/runs/runs.ts'
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
      if (makesRecords(undoable)) {
        assertNoField(runId, options.field)
        await takeBack(context, connector, undoable, options, signal)
        return
      }
      const details = options.field === undefined ? {} : { field: options.field }
      await noteFromCli(context, 'run.undo', { target: runId, details })
      const undone = await undoRun(context, connector, undoable, {
        plan: false,
        signal,
        field: options.field,
      })
      const { restored, already, left, unfinished } = undone
      await noteFromCli(context, 'run.undone', {
        target: runId,
        details: {
          ...details,
          restored,
          already,
          left,
          ...(unfinished === undefined ? {} : { unfinished }),
        },
      })
      print(options.json ? `${JSON.stringify(undone)}\n` : text(undone))
      if (undone.unfinished !== undefined)
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
  const undone = await undoMade(context, connector, run, { plan: false, signal })
  const { archived, already, left, unfinished } = undone
  await noteFromCli(context, 'run.undone', {
    target: run.id,
    details: { archived, already, left, ...(unfinished === undefined ? {} : { unfinished }) },
  })
  print(json ? `${JSON.stringify(undone)}\n` : undoneRecordsText(undone))
  if (unfinished !== undefined) process.exitCode = signal.aborted ? exitStatus.interrupted : exitStatus.parked
}

async function showPlan(runId: string, options: Options): Promise<void> {
  const plan = await queryLedger(await readConfig(), 'undoPlan', { run: runId, field: options.field })
  if (!plan) print(nothingToUndo(runId, options))
  else if (options.json) print(`${JSON.stringify(plan)}\n`)
  else print('kind' in plan ? undoneRecordsText(plan) : undoPlanText(plan))
  if (plan?.unfinished !== undefined) process.exitCode = exitStatus.parked
}

function nothingToUndo(runId: string, { json }: Options): string {
  const reason = 'nothing was written into its source: there is nothing to undo'
  return json
    ? `${JSON.stringify({ runId, restored: 0, already: 0, left: 0, rows: [], reason })}\n`
    : `${runId}: ${reason}\n`
}

const shown = 50

function text({ runId, restored, already, left, rows: leftRows, unfinished }: Undone): string {
  const lines = [
    `run ${runId}: ${counted(restored, 'field')} restored, ${left} not touched${already > 0 ? `, ${already} already had the old value` : ''}`,
    ...leftRows
      .slice(0, shown)
      .map(({ record, field, reason }) => `  not touched: ${record} ${field}: ${reason ?? ''}`),
  ]
  if (leftRows.length > shown) lines.push(`  and ${leftRows.length - shown} more (--json shows all)`)
  if (unfinished !== undefined) lines.push(`not finished: ${unfinished}; run the same command to continue`)
  return `${lines.join('\n')}\n`
}
