import { reachableOf } from '../../app/lists/pages/read-list.ts'
import type { ReadList } from '../../app/lists/pages/read-list.ts'
import type { JudgedList } from '../../app/lists/judging/judge-list.ts'
import type { ListCalls } from '../../app/lists/pages/list-calls.ts'
import type { JudgedRow } from '../../domain/lists/verdicts.ts'
import { verdicts } from '../../domain/words.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { printable } from '../../domain/values/printable.ts'

/** The facts of a list, as `--json` prints them. */
export interface ListDocument {
  list: string
  search: string
  into: { connector: string; entity: string }
  /** Null: not known before page 1 is bought. */
  total: number | null
  reachable: number | null
  pages: number
  rows: number
  /** The rows that the service sent and the ledger does not keep, by reason. */
  dropped: ReadList['dropped']
  isComplete: boolean
  verdicts: Record<string, number>
  /** False: a record that was not read yet may be overlooked. */
  indexIsComplete: boolean
  faults: string[]
}

export function listDocument(calls: ListCalls, list: ReadList, judged: JudgedList): ListDocument {
  const { name, settings } = calls
  return {
    list: name,
    search: settings.search,
    into: settings.into,
    total: list.total,
    reachable: list.total === null ? null : reachableOf(calls, list.total),
    pages: list.pages,
    rows: list.rows.length,
    dropped: list.dropped,
    isComplete: list.isComplete,
    verdicts: countsOf(judged.rows),
    indexIsComplete: judged.index?.isComplete ?? false,
    faults: list.faults,
  }
}

/** Returns the number of rows with each verdict, without zeros. */
function countsOf(rows: readonly JudgedRow[]): Record<string, number> {
  const counts = verdicts.map(
    (each) => [each, rows.filter(({ verdict }) => verdict === each).length] as const,
  )
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

export function listText(
  document: ListDocument,
  { pageSize, settings }: ListCalls,
  capAtomic: Atomic | undefined,
): string {
  const { list, search, into, total, reachable, pages, rows, isComplete } = document
  const limit = settings.limit === undefined ? '' : `, of which the list takes ${settings.limit}`
  const wanted = reachable ?? 0
  const left = isComplete ? 0 : Math.max(0, Math.ceil(wanted / pageSize) - pages)
  const judged = Object.entries(document.verdicts).map(([verdict, count]) => `${count} ${verdict}`)
  const dropped = Object.entries(document.dropped).map(([reason, count]) => `${count} ${reason}`)
  return [
    `${list}: ${search} against ${into.connector} ${into.entity}`,
    total === null
      ? '  total       unknown before page 1 is bought'
      : `  total       ${total}${limit}; ${reachable === total ? 'all can be reached' : `${reachable} can be reached`}`,
    `  in ledger   ${counted(rows, 'row')} on ${counted(pages, 'page')}${isComplete ? ': complete' : ''}`,
    ...(dropped.length > 0 ? [`  not kept    ${dropped.join(', ')}`] : []),
    ...(left > 0
      ? [
          `  to buy      ${counted(left, 'page')}${capAtomic === undefined ? '' : `, ${formatUsd(capAtomic * BigInt(left))} USD at most`}`,
        ]
      : []),
    ...(judged.length > 0 ? [`  verdicts    ${judged.join(', ')}`] : []),
    ...document.faults.map((fault) => `  unusable    ${fault}`),
    ...(document.indexIsComplete
      ? []
      : [
          `  index       not complete: a row called new may be in the CRM. \`paydirt index ${into.connector}\` reads it, at no cost`,
        ]),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

export function rowsText(rows: readonly JudgedRow[]): string {
  return rows.map((row) => `  ${row.verdict.padEnd(10)} ${nameOf(row)}  ${whyOf(row)}\n`).join('')
}

/** Returns what a row is called, on one line. */
export function nameOf({ row: { values } }: JudgedRow): string {
  const parts = ['company_name', 'full_name', 'job_title', 'domain', 'profnet_url'].flatMap((field) =>
    values[field] === undefined ? [] : [String(values[field])],
  )
  return printable(parts.join(' · ').slice(0, 160))
}

function whyOf({ reason, records }: JudgedRow): string {
  return records.length === 0
    ? reason
    : `${reason}: ${records.map(({ entity, recordId }) => `${entity}:${recordId}`).join(', ')}`
}
