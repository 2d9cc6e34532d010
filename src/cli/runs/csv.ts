import { claimOutput } from '../../app/runs/csv-output.ts'
import { enrichCsv, openInput, planCsv, readingOf } from '../../app/runs/enrich-csv.ts'
import { assertWritableOutput, parseColumnMap } from '../../connectors/csv/index.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { statusOfEnd } from '../terminal/exit.ts'
import { newPlanId } from '../../app/context/new-id.ts'
import { planText } from '../../app/plans/plan-text.ts'
import { createProgressView } from '../terminal/progress.ts'
import { readingText } from '../terminal/print-reading.ts'
import { summaryText } from '../terminal/print-summary.ts'
import { readConfig, stopSignal, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

interface Options {
  object: ObjectKind
  recipe?: string
  map: string[]
  encoding?: string
  out?: string
  force?: true
  plan?: true
  json?: true
}

export async function enrichFile(input: string, options: Options): Promise<void> {
  const out = options.out
  if (!options.plan && out === undefined) {
    throw new ConfigError(
      'no_out',
      '--out <file> is needed: where the enriched CSV goes (or use --plan to see the cost first)',
    )
  }
  if (out === '-' && options.json)
    throw new ConfigError('two_outputs', '--json and --out - both use standard output: choose one')
  const map = parseColumnMap(options.map)
  const config = await readConfig()
  const csv = await openInput(config, { input, object: options.object, map, encoding: options.encoding })
  for (const warning of csv.warnings) printError(`paydirt: ${warning}\n`)
  if (out !== undefined) await assertWritableOutput(input, out)
  const signal = stopSignal()

  await withContext(async (context) => {
    const force = options.force === true
    const place = out === undefined ? undefined : await claimOutput(context, csv, out, { force })
    if (options.plan) {
      const plan = await planCsv(context, csv, {
        planId: newPlanId(context),
        recipe: options.recipe,
        out,
        force,
      })
      print(
        options.json
          ? `${JSON.stringify(plan)}\n`
          : `${readingText(plan.input, { samples: true })}${planText(plan)}`,
      )
      return
    }
    printError(readingText(readingOf(csv), { samples: process.stderr.isTTY === true }))
    const view = createProgressView({
      total: csv.rowCount,
      nowMs: () => performance.now(),
    })
    const { end, summary } = await enrichCsv(context, csv, {
      out: out as string,
      replace: place?.replace,
      recipe: options.recipe,
      signal,
      onProgress: (progress) => view.show(progress),
      onNotice: (text) => printError(`paydirt: ${text}\n`),
      onResumed: (run) =>
        printError(`paydirt: continuing run ${run.id}, started ${utcMinute(run.startedAt)}\n`),
    }).finally(() => view.end())
    if (options.json) print(`${JSON.stringify(summary)}\n`)
    else (out === '-' ? printError : print)(summaryText(summary, end, out))
    process.exitCode = statusOfEnd[end]
  }, config)
}
