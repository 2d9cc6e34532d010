import { once } from 'node:events'
import type { Context } from '../../app/context/context.ts'
import { changedRows, comparedFetches } from '../../app/lists/pages/diff-list.ts'
import { listCalls } from '../../app/lists/pages/list-calls.ts'
import { readList } from '../../app/lists/pages/read-list.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import type { ChangedRow } from '../../store/lists/diff-rows.ts'
import { print, printError } from '../terminal/print.ts'
import { withContext } from '../terminal/with-context.ts'
import { nameOf } from './list-text.ts'

/** Shows the rows that a list has got and lost since the fetch before its last one. Pays nothing. */
export async function showDiff(name: string, { json }: { json?: true }): Promise<void> {
  await withContext(async (context) => {
    await readList(context, await listCalls(context, name, { asks: false }))
    const compared = await comparedFetches(context, name)
    if (!compared) {
      const why = `${name} has no two fetches to compare: a second one begins when the pages are no longer fresh, or with --again`
      return print(json ? 'null\n' : `${why}\n`)
    }
    const { now, since } = compared
    const isComplete = now.endedAt !== null && now.ending !== 'replaced'
    const sameRules = now.rules === since.rules
    if (json)
      print(
        `{"list":${JSON.stringify(name)},"snapshot":"${now.id}","since":"${since.id}","sinceAt":"${since.startedAt.toISOString()}","isComplete":${isComplete},"sameRules":${sameRules},"new":[`,
      )
    else print(`${name}: changes since the fetch ${since.id} of ${utcMinute(since.startedAt)}\n`)
    const added = await show(context, '+', { of: now.id, without: since.id }, json)
    if (json) print('],"gone":[')
    // Rows of a fetch that is under way may still come: none of them is called gone.
    const lost = isComplete ? await show(context, '-', { of: since.id, without: now.id }, json) : 0
    if (json) return print(']}\n')
    print(`${added} new, ${isComplete ? `${lost} gone` : 'gone unknown'}\n`)
    if (!isComplete)
      printError(
        `paydirt: the newest fetch of ${name} has not ended: \`paydirt lists fetch ${name}\` goes on\n`,
      )
    if (!sameRules)
      printError(`paydirt: lists.${name} has changed between the two, so some of these are other rows\n`)
  })
}

async function show(
  context: Context,
  sign: string,
  fetches: { of: string; without: string },
  json: true | undefined,
): Promise<number> {
  let count = 0
  for await (const rows of changedRows(context, fetches)) {
    const texts = rows.map((row) => (json ? rowJson(row) : `  ${sign} ${nameOf({ row })}\n`))
    print(json ? `${count > 0 ? ',' : ''}${texts.join(',')}` : texts.join(''))
    count += rows.length
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
  }
  return count
}

function rowJson({ serviceId: id, values }: ChangedRow): string {
  return JSON.stringify({ id, values })
}
