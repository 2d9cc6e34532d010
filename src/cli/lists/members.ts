import { stringify } from 'csv-stringify/sync'
import { judgeList } from '../../app/lists/judging/judge-list.ts'
import { listCalls } from '../../app/lists/pages/list-calls.ts'
import { readList } from '../../app/lists/pages/read-list.ts'
import { guardFormula, writeInPlace } from '../../connectors/csv/index.ts'
import type { JudgedRow } from '../../domain/lists/verdicts.ts'
import type { Verdict } from '../../domain/words.ts'
import { counted } from '../../domain/values/counted.ts'
import { print, printError } from '../terminal/print.ts'
import { withContext } from '../terminal/with-context.ts'
import { rowsText } from './list-text.ts'

interface MembersOptions {
  verdict?: Verdict
  json?: true
}

export async function showMembers(name: string, { verdict, json }: MembersOptions): Promise<void> {
  const rows = await judgedRows(name, verdict)
  if (!json) return print(rows.length > 0 ? rowsText(rows) : 'the ledger has no such row of this list\n')
  print(
    `${JSON.stringify(
      rows.map(({ row, verdict: each, reason, records }) => ({
        verdict: each,
        reason,
        records,
        page: row.page,
        id: row.serviceId,
        values: row.values,
      })),
    )}\n`,
  )
}

interface ExportOptions {
  out: string
  verdict?: Verdict
  force: boolean
}

export async function exportMembers(name: string, { out, verdict, force }: ExportOptions): Promise<void> {
  const rows = await judgedRows(name, verdict)
  const text = csvOf(rows)
  if (out === '-') return print(text)
  await writeInPlace(
    undefined,
    out,
    (sink) =>
      new Promise((resolve, reject) => {
        sink.on('error', reject)
        sink.end(text, () => resolve())
      }),
    { replace: force },
  )
  printError(`paydirt: ${counted(rows.length, 'row')} written to ${out}\n`)
}

async function judgedRows(name: string, verdict: Verdict | undefined): Promise<JudgedRow[]> {
  return withContext(async (context) => {
    const calls = await listCalls(context, name, { asks: false })
    const list = await readList(context, calls)
    const { rows } = await judgeList(context, calls.settings, list.rows)
    return verdict === undefined ? rows : rows.filter((each) => each.verdict === verdict)
  })
}

/** The columns bear the names that `paydirt csv` finds by itself. */
function csvOf(rows: readonly JudgedRow[]): string {
  const fields = [...new Set(rows.flatMap(({ row }) => Object.keys(row.values)))]
  const records = rows.map(({ row, verdict, reason, records: found }) => [
    ...fields.map((field) => row.values[field] ?? ''),
    row.serviceId ?? '',
    verdict,
    reason,
    found.map(({ entity, recordId }) => `${entity}:${recordId}`).join(' '),
  ])
  return stringify([
    [...fields, 'list_id', 'list_verdict', 'list_reason', 'list_records'],
    ...records.map((cells) => cells.map((cell) => guardFormula(String(cell)))),
  ])
}
