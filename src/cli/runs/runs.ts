import { Command, InvalidArgumentError } from 'commander'
import { describeRun } from '../../app/runs/run-detail.ts'
import { formatUsd } from '../../domain/money.ts'
import { runText } from './print-run.ts'
import { withContext } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

export function runsCommand(): Command {
  return new Command('runs')
    .description('List the latest runs, or show the figures of one.')
    .argument('[run]', 'the id of a run')
    .option('--limit <n>', 'how many to list', positive, 20)
    .option('--json', 'print one JSON document')
    .action(async (id: string | undefined, options: { limit: number; json?: true }) => {
      await withContext(async (context) => {
        if (id !== undefined) {
          const run = await describeRun(context, id)
          print(options.json ? `${JSON.stringify(run)}\n` : runText(run))
          return
        }
        const runs = await context.runs.list(options.limit)
        const rows = []
        for (const run of runs) rows.push({ ...run, settled: formatUsd(await context.runs.spent(run.id)) })
        if (options.json) {
          const documents = rows.map(
            ({ id: runId, connector, object, source, state, records, startedAt, finishedAt, settled }) => ({
              runId,
              connector,
              object,
              file: source['file'],
              state,
              records,
              startedAt,
              finishedAt,
              settled,
            }),
          )
          print(`${JSON.stringify(documents)}\n`)
          return
        }
        if (rows.length === 0) print('no runs yet\n')
        for (const run of rows) {
          print(
            `${run.id.padEnd(18)} ${run.startedAt.toISOString().slice(0, 16)}  ${run.connector.padEnd(11)} ${run.object.padEnd(8)} ${run.state.padEnd(9)} ${String(run.records).padStart(8)} records  ${run.settled} USD${typeof run.source['file'] === 'string' ? `  ${run.source['file']}` : ''}\n`,
          )
        }
      })
    })
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0')
  return Number(text)
}
