import type { CrmName } from '../../connectors/definitions.ts'
import type { EnrichedByIds } from '../../library/types.ts'
import { createEventView } from '../terminal/event-view.ts'
import { statusOfEnd } from '../terminal/exit.ts'
import { stopSignal, withPaydirt } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

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
  const view = createEventView()
  await withPaydirt(async (paydirt) => {
    const work = { connector: name, object, ids, recipe: options.recipe }
    const enriched = await paydirt.enrich(work, { signal, onEvent: view.show })
    print(options.json ? `${JSON.stringify(documentOf(enriched))}\n` : textOf(enriched))
    process.exitCode = statusOfEnd[enriched.end]
  })
}

/** Returns the summary of the run, as every command prints it, and the result of each record. */
function documentOf({ summaries, results }: EnrichedByIds) {
  const [summary, ...others] = summaries
  return { ...summary, otherRuns: others.length > 0 ? others : undefined, results }
}

function textOf({ results, end }: EnrichedByIds): string {
  const lines = results.map(({ recordId, status, reason, fields, costUsd }) => {
    const what = fields.length > 0 ? fields.map(({ name }) => name).join(', ') : (reason ?? '')
    return `${recordId}  ${status.padEnd(10)} ${costUsd} USD  ${what}`
  })
  if (end === 'interrupted') lines.push('stopped. Nothing is lost: run the same command to continue.')
  if (end === 'parked') lines.push('some work is parked; it continues when the reason is resolved')
  return `${lines.join('\n')}\n`
}
