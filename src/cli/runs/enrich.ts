import { openConnector } from '../../app/context/connectors.ts'
import type { CrmName } from '../../connectors/definitions.ts'
import { enrichRecords, type EnrichedRecords } from '../../app/runs/enrich-records.ts'
import { statusOfEnd } from '../terminal/exit.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

interface Options {
  recipe?: string
  json?: true
}

export async function enrichByIds(
  name: CrmName,
  object: string,
  ids: string[],
  options: Options,
): Promise<void> {
  const signal = stopSignal()
  await withContext(async (context) => {
    const engine = await context.openEngine()
    const connector = await openConnector(context.config, name, engine)
    try {
      const { recipe } = options
      const enriched = await enrichRecords(
        context,
        connector,
        { object, ids, recipe },
        { signal, onNotice: (text) => printError(`paydirt: ${text}\n`) },
      )
      print(options.json ? `${JSON.stringify(documentOf(enriched))}\n` : textOf(enriched))
      process.exitCode = statusOfEnd[enriched.end]
    } finally {
      await connector.close()
    }
  })
}

/** Returns the summary of the run, as every command prints it, and the result of each record. */
function documentOf({ summaries, results }: EnrichedRecords) {
  const [summary, ...others] = summaries
  return { ...summary, otherRuns: others.length > 0 ? others : undefined, results }
}

function textOf({ results, end }: EnrichedRecords): string {
  const lines = results.map(({ recordId, status, reason, fields, costUsd }) => {
    const what = fields.length > 0 ? fields.map(({ name }) => name).join(', ') : (reason ?? '')
    return `${recordId}  ${status.padEnd(10)} ${costUsd} USD  ${what}`
  })
  if (end === 'interrupted') lines.push('stopped. Nothing is lost: run the same command to continue.')
  if (end === 'parked') lines.push('some work is parked; it continues when the reason is resolved')
  return `${lines.join('\n')}\n`
}
