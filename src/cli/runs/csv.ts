import { parseColumnMap } from '../../connectors/csv/index.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { statusOfEnd } from '../terminal/exit.ts'
import { planText } from '../../app/plans/plan-text.ts'
import { createEventView } from '../terminal/event-view.ts'
import { readingText } from '../terminal/print-reading.ts'
import { summaryText } from '../terminal/print-summary.ts'
import { stopSignal, withPaydirt } from '../terminal/with-context.ts'
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
  const { object, recipe, encoding, force } = options
  const work = { file: input, object, recipe, map, encoding, force }
  const signal = stopSignal()
  const isTerminal = process.stderr.isTTY === true
  const view = createEventView({
    onEvent(event) {
      if (event.type === 'file') printError(readingText(event.reading, { samples: isTerminal }))
    },
  })
  await withPaydirt(async (paydirt) => {
    if (options.plan || out === undefined) {
      const plan = await paydirt.plan({ ...work, out }, { signal, onEvent: view.show })
      print(
        options.json
          ? `${JSON.stringify(plan)}\n`
          : `${readingText(plan.input, { samples: true })}${planText(plan)}`,
      )
      return
    }
    const { end, summary } = await paydirt
      .enrich({ ...work, out }, { signal, onEvent: view.show })
      .finally(() => view.end())
    if (options.json) print(`${JSON.stringify(summary)}\n`)
    else (out === '-' ? printError : print)(summaryText(summary, end, out))
    process.exitCode = statusOfEnd[end]
  })
}
