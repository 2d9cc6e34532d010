import { Command, InvalidArgumentError, Option } from 'commander'
import { claimOutput } from '../../app/runs/csv-output.ts'
import { enrichCsv, openInput, planCsv, readingOf } from '../../app/runs/enrich-csv.ts'
import { assertWritableOutput, parseColumnMap } from '../../connectors/csv/index.ts'
import { ConfigError } from '../../domain/errors.ts'
import { objectNamed } from '../../domain/entity-names.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { exitStatus } from '../terminal/exit.ts'
import { newPlanId } from '../../app/context/new-id.ts'
import { planText } from '../../app/plans/plan-text.ts'
import { createProgressView } from '../terminal/progress.ts'
import { readingText } from '../terminal/print-reading.ts'
import { repeatable } from '../terminal/repeatable.ts'
import { summaryText } from '../terminal/print-summary.ts'
import { readConfig, stopSignal, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

interface Options {
  object: ObjectKind
  recipe?: string
  map: string[]
  encoding?: string
  out?: string
  force?: true
  plan?: true
  json?: true
  budget?: string
}

export function csvCommand(): Command {
  return new Command('csv')
    .description(
      'Enrich a CSV file. Answers that the ledger already has are not bought again; an interrupted run continues.',
    )
    .argument('<in>', 'the CSV file; its columns are found by name (profnet_url, domain, email ...)')
    .addOption(
      new Option('--object <kind>', 'what each row is: company or person')
        .argParser(objectKind)
        .makeOptionMandatory(),
    )
    .option(
      '--recipe <name>',
      'which fields to fill: profile, contact, full, or a recipe of the config (default: profile)',
    )
    .addOption(
      repeatable(
        '--map <columns>',
        "which column is what, where names do not say so: 'profile=LinkedIn URL,email=E-Mail' (profile, domain, email, phone, first_name, last_name, company; #3 is the third column, email= none)",
      ),
    )
    .option(
      '--encoding <name>',
      'how the file is encoded, where it is not UTF-8: windows-1252, utf-16 ... (default: by its byte order mark, or utf-8)',
    )
    .option('--out <file>', 'where the enriched CSV goes (- for standard output)')
    .option(
      '--force',
      'replace a file at --out; without it, only an unedited output of the same input is replaced',
    )
    .option(
      '--plan',
      'show a plan and save it: what would be bought, filled and paid; pays nothing (see apply)',
    )
    .option('--json', 'print one JSON document on standard output; progress stays on standard error')
    .addHelpText(
      'after',
      `
Examples:
  paydirt csv companies.csv --object company --plan
  paydirt csv companies.csv --object company --out enriched.csv
  paydirt csv export.csv --object person --encoding windows-1252 --map 'profile=LinkedIn URL,email=E-Mail' --plan

Exit status: 0 every row is final · 1 failed · 2 wrong use or configuration · 3 work is parked (a cap, an empty wallet)`,
    )
    .action(run)
}

async function run(input: string, options: Options): Promise<void> {
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
      stream: process.stderr,
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
        printError(`paydirt: continuing run ${run.id}, started ${run.startedAt.toISOString()}\n`),
    }).finally(() => view.end())
    if (options.json) print(`${JSON.stringify(summary)}\n`)
    else (out === '-' ? printError : print)(summaryText(summary, end, out))
    process.exitCode = {
      finished: exitStatus.done,
      parked: exitStatus.parked,
      interrupted: exitStatus.interrupted,
    }[end]
  }, config)
}

function objectKind(text: string): ObjectKind {
  const object = objectNamed(text)
  if (object) return object
  throw new InvalidArgumentError('must be company or person (or companies, people)')
}
