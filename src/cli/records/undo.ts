import { Command } from 'commander'
import { openConnector } from '../../app/context/connectors.ts'
import { undoableRun, undoRun, type Undone } from '../../app/records/undo.ts'
import { undoPlanText } from './undo-plan-text.ts'
import { exitStatus } from '../terminal/exit.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

interface Options {
  field?: string
  plan?: true
  json?: true
}

export function undoCommand(): Command {
  return new Command('undo')
    .description(
      'Restore the old values that a run overwrote in a CRM, except in fields that were changed since.',
    )
    .argument('<run>', 'the id of a run; `paydirt runs` lists them')
    .option('--field <name>', 'only this field, by its canonical name (industry, employees ...)')
    .option(
      '--plan',
      'list the records and fields with their values: what would be restored, what would be left and why; writes nothing',
    )
    .option('--json', 'print one JSON document on standard output')
    .addHelpText(
      'after',
      `
Examples:
  paydirt undo RUN --plan
  paydirt undo RUN --plan --json
  paydirt undo RUN --field industry

Exit status: 0 all done · 1 failed · 2 wrong use · 3 the CRM refuses requests for a while: run the same command again`,
    )
    .action(run)
}

async function run(runId: string, options: Options): Promise<void> {
  const signal = stopSignal()
  await withContext(async (context) => {
    const undoable = await undoableRun(context, runId)
    if (!undoable) {
      const reason = 'nothing was written into its source: there is nothing to undo'
      print(
        options.json
          ? `${JSON.stringify({ runId, restored: 0, already: 0, left: 0, rows: [], reason })}\n`
          : `${runId}: ${reason}\n`,
      )
      return
    }
    const connector = await openConnector(context.config, undoable.connector, undefined)
    try {
      const undone = await undoRun(context, connector, undoable, {
        plan: options.plan === true,
        signal,
        field: options.field,
      })
      const toText = options.plan ? undoPlanText : text
      print(options.json ? `${JSON.stringify(undone)}\n` : toText(undone))
      if (undone.unfinished !== undefined)
        process.exitCode = signal.aborted ? exitStatus.interrupted : exitStatus.parked
    } finally {
      await connector.close()
    }
  })
}

const shown = 50

function text({ runId, restored, already, left, rows: leftRows, unfinished }: Undone): string {
  const lines = [
    `run ${runId}: ${restored} fields restored, ${left} not touched${already > 0 ? `, ${already} already had the old value` : ''}`,
    ...leftRows
      .slice(0, shown)
      .map(({ record, field, reason }) => `  not touched: ${record} ${field}: ${reason ?? ''}`),
  ]
  if (leftRows.length > shown) lines.push(`  and ${leftRows.length - shown} more (--json shows all)`)
  if (unfinished !== undefined) lines.push(`not finished: ${unfinished}; run the same command to continue`)
  return `${lines.join('\n')}\n`
}
