import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import { objectOfList } from '../../app/config/lists.ts'
import { judgedRows, type JudgedStoredRow } from '../../app/lists/judging/judged-rows.ts'
import { listCalls, type ListCalls } from '../../app/lists/pages/list-calls.ts'
import { guardFormula, writeInPlace } from '../../connectors/csv/index.ts'
import { fieldsOfRows } from '../../domain/lists/list-row.ts'
import type { Verdict } from '../../domain/words.ts'
import { counted } from '../../domain/values/counted.ts'
import { print, printError } from '../terminal/print.ts'
import { withContext } from '../terminal/with-context.ts'
import { rowsText } from './list-text.ts'
import { rowSource } from './source-text.ts'

interface MembersOptions {
  verdict?: Verdict
  json?: true
}

export async function showMembers(name: string, { verdict, json }: MembersOptions): Promise<void> {
  let count = 0
  const show = async (rows: JudgedStoredRow[], { calls }: Rows): Promise<void> => {
    const texts = json ? rows.map((row) => memberJson(row, calls)) : []
    print(json ? `${count > 0 ? ',' : ''}${texts.join(',')}` : rowsText(rows, calls))
    count += rows.length
    await drained(process.stdout)
  }
  // A list that cannot be opened leaves no document behind that was begun.
  await forRows(name, verdict, show, async () => void (json && print('[')))
  if (json) print(']\n')
  else if (count === 0) print('the ledger has no such row of this list\n')
}

function memberJson({ row, verdict, reason, records }: JudgedStoredRow, calls: ListCalls): string {
  const { page, serviceId: id, values, company } = row
  return JSON.stringify({
    verdict,
    reason,
    records,
    page,
    id,
    values,
    ...rowSource(calls, row),
    ...(company && { company: { id: company.serviceId, values: company.values } }),
  })
}

interface ExportOptions {
  out: string
  verdict?: Verdict
  force: boolean
}

export async function exportMembers(name: string, { out, verdict, force }: ExportOptions): Promise<void> {
  let count = 0
  const fill = async (write: (text: string) => Promise<void>): Promise<void> => {
    await forRows(
      name,
      verdict,
      async (rows, { fields, calls }) => {
        await write(csvOf(fields, rows, calls))
        count += rows.length
      },
      ({ fields, calls }) =>
        write(stringify([[...fields, ...listColumns, ...(calls.similar ? similarColumns : [])]])),
    )
  }
  if (out === '-')
    return fill(async (text) => {
      print(text)
      await drained(process.stdout)
    })
  await writeInPlace(
    undefined,
    out,
    async (sink) => {
      const failed = new Promise<never>((_, reject) => sink.once('error', reject))
      const ended = async () => {
        await fill(async (text) => {
          sink.write(text)
          await drained(sink)
        })
        await new Promise<void>((resolve) => sink.end(resolve))
      }
      await Promise.race([ended(), failed])
    },
    { replace: force },
  )
  printError(`paydirt: ${counted(count, 'row')} written to ${out}\n`)
}

/** Waits until a stream has taken what was written, so that rows do not gather in memory. */
async function drained(stream: Writable): Promise<void> {
  if (stream.writableNeedDrain) await once(stream, 'drain')
}

const listColumns = ['list_id', 'list_verdict', 'list_reason', 'list_records']
const similarColumns = ['list_score', 'list_like']

/** The calls of a list, and the fields that its rows may have. */
interface Rows {
  calls: ListCalls
  fields: readonly string[]
}

/** Hands out the rows of a list in batches. */
async function forRows(
  name: string,
  verdict: Verdict | undefined,
  work: (rows: JudgedStoredRow[], of: Rows) => Promise<void>,
  begin: (of: Rows) => Promise<void> = async () => {},
): Promise<void> {
  await withContext(async (context) => {
    const calls = await listCalls(context, name, { asks: false })
    const of = { calls, fields: fieldsOfRows(objectOfList(calls.settings)) }
    await begin(of)
    for await (const rows of judgedRows(context, calls, { verdict })) await work(rows, of)
  })
}

/** The columns bear the names that `paydirt csv` finds by itself. */
function csvOf(fields: readonly string[], rows: readonly JudgedStoredRow[], calls: ListCalls): string {
  const records = rows.map(({ row, verdict, reason, records: found }) => {
    const source = rowSource(calls, row)
    return [
      ...fields.map((field) => row.values[field] ?? ''),
      row.serviceId ?? '',
      verdict,
      reason,
      found.map(({ entity, recordId }) => `${entity}:${recordId}`).join(' '),
      ...(source ? [source.score ?? '', source.namedBy.map(({ reference }) => reference).join('; ')] : []),
    ]
  })
  return stringify(records.map((cells) => cells.map((cell) => guardFormula(String(cell)))))
}
