import { boundsOf, callOf, type ListCalls } from '../../app/lists/pages/list-calls.ts'
import type { ReadList } from '../../app/lists/pages/read-list.ts'
import type { FetchContext } from '../../app/lists/pages/open-fetch.ts'
import { indexOfList, type JudgeContext } from '../../app/lists/judging/judge-list.ts'
import { judgedRowsOf, type JudgedStoredRow } from '../../app/lists/judging/judged-rows.ts'
import { listMonth } from '../../app/money/list-months.ts'
import { movedOf, pagesLeft, reachableOf } from '../../domain/lists/list-parts.ts'
import type { JudgedRow } from '../../domain/lists/verdicts.ts'
import { verdicts } from '../../domain/words.ts'
import { formatUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { printable } from '../../domain/values/printable.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import { rowSource, rowSourceText, sourceDocument, sourceLines, type SourceDocument } from './source-text.ts'

/** The facts of a list, as `--json` prints them. */
export interface ListDocument {
  list: string
  search: string
  into: { connector: string; entity: string }
  /** The id of the fetch that brought the rows, and its beginning. Null: no page is there. */
  snapshot: string | null
  startedAt: string | null
  /** Null: not known before page 1 of each part is bought. */
  total: number | null
  reachable: number | null
  /** The rows that are wanted and that the service does not answer. */
  outside: number
  pages: number
  rows: number
  /** The rows that the service sent and that are not kept, by reason. */
  dropped: ReadList['dropped']
  isComplete: boolean
  /** True while one of its pages is fresh: the next fetch goes on with it. */
  isCurrent: boolean
  parts: PartDocument[]
  /** The rows that several parts brought, and those that the total promised and that did not come. */
  overlap: number
  moved: number
  verdicts: Record<string, number>
  /** The calendar month (UTC): what was spent for the list, and its cap. */
  month: { month: string; spent: string; cap: string | null }
  /** False: a record that was not read yet may be overlooked. */
  indexIsComplete: boolean
  faults: string[]
  /** The references and companies of which the list's questions are asked. */
  references: SourceDocument['references']
  companies: SourceDocument['companies']
  questions: SourceDocument['questions']
}

interface PartDocument {
  name: string
  total: number | null
  reachable: number | null
  pages: number
  arrived: number
  /** The rows that came a second time. */
  repeated: number
  overlap: number
  moved: number
  isComplete: boolean
  /** The page that the service refused, with its code. */
  cut: { page: number; code: string | null } | null
}

/** Returns the facts of a list, and its first rows with their verdicts. Counts all rows, in batches. */
export async function listDocument(
  context: JudgeContext & FetchContext,
  calls: ListCalls,
  list: ReadList,
  shown = 0,
): Promise<{ document: ListDocument; first: JudgedStoredRow[] }> {
  const { name, settings } = calls
  const { fetch } = list
  const bounds = boundsOf(calls)
  const counts = new Map(Object.entries(list.dropped))
  const first: JudgedStoredRow[] = []
  if (fetch)
    for await (const batch of judgedRowsOf(context, calls, fetch.id)) {
      for (const { verdict } of batch) counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
      first.push(...batch.slice(0, shown - first.length))
    }
  const { month, spentAtomic, capAtomic } = await listMonth(context, name)
  const document: ListDocument = {
    list: name,
    search: settings.search,
    into: settings.into,
    snapshot: fetch?.id ?? null,
    startedAt: fetch?.startedAt.toISOString() ?? null,
    total: list.total,
    reachable: list.reachable,
    outside: list.outside,
    pages: list.pages,
    rows: list.rows,
    dropped: list.dropped,
    isComplete: list.isComplete,
    isCurrent: list.isCurrent,
    parts: list.parts.map((part) => ({
      name: part.name,
      total: part.total,
      reachable: reachableOf(part, bounds),
      pages: part.pages,
      arrived: part.arrived,
      repeated: part.repeated,
      overlap: part.overlap,
      moved: movedOf(part, bounds),
      isComplete: part.isEnded,
      cut: part.cut ?? null,
    })),
    overlap: list.overlap,
    moved: list.moved,
    verdicts: Object.fromEntries(
      verdicts.flatMap((each) => {
        const count = counts.get(each)
        return count === undefined ? [] : [[each, count]]
      }),
    ),
    month: {
      month,
      spent: formatUsd(spentAtomic),
      cap: capAtomic === undefined ? null : formatUsd(capAtomic),
    },
    indexIsComplete: (await indexOfList(context, settings))?.isComplete ?? false,
    faults: list.faults,
    ...(await sourceDocument(context, calls, list)),
  }
  return { document, first }
}

export function listText(document: ListDocument, calls: ListCalls, { parts }: ReadList): string {
  const { settings } = calls
  const { list, search, into, total, reachable, pages, rows, isComplete } = document
  const isLimited = settings.limit !== undefined && (total === null || total > settings.limit)
  const limit = isLimited ? `, of which the list takes ${settings.limit}` : ''
  const left = isComplete ? 0 : leftOf(calls, document, parts)
  const isAsked = document.references !== null || document.companies !== null
  const capAtomic = isAsked ? undefined : callOf(calls).capAtomic
  const judged = Object.entries(document.verdicts).map(([verdict, count]) => `${count} ${verdict}`)
  const waiting = (document.verdicts['possible'] ?? 0) + (document.verdicts['ambiguous'] ?? 0)
  const dropped = Object.entries(document.dropped).map(([reason, count]) => `${count} ${reason}`)
  return [
    `${list}: ${search} against ${into.connector} ${into.entity}`,
    total === null
      ? `  total       unknown before page 1 ${parts.length > 1 ? 'of each part ' : ''}is bought`
      : `  total       ${total}${limit}; ${reachable === total ? 'all can be reached' : `${reachable} ${reachedAs(document, settings)}`}`,
    `  in ledger   ${counted(rows, 'row')} on ${counted(pages, 'page')}${isComplete ? (document.outside > 0 ? `: ${withoutText(document.outside, settings.people?.perCompany)}` : ': complete') : ''}`,
    ...(document.snapshot === null || document.startedAt === null
      ? []
      : [
          `  snapshot    ${document.snapshot} of ${utcMinute(new Date(document.startedAt))}${document.isCurrent ? '' : '; none of its pages is fresh any more, so the next fetch begins anew'}`,
        ]),
    ...(dropped.length > 0 ? [`  not kept    ${dropped.join(', ')}`] : []),
    ...sourceLines(document, document.parts),
    ...(isAsked ? [] : partsText(document)),
    ...(document.overlap > 0 && !isAsked
      ? [`  overlap     ${counted(document.overlap, 'row')} of several parts, each kept once`]
      : []),
    ...(document.moved > 0
      ? [
          `  moved       ${counted(document.moved, 'row')} did not come: they changed their page while pages were bought. \`paydirt lists fetch ${list} --again\` begins anew, and pays for every page again`,
        ]
      : []),
    ...(left > 0 && !isAsked
      ? [
          `  to buy      ${counted(left, 'page')}${capAtomic === undefined ? '' : `, ${formatUsd(capAtomic * BigInt(left))} USD at most`}`,
        ]
      : []),
    ...(document.month.cap === null && Number(document.month.spent) === 0
      ? []
      : [
          `  ${document.month.month}     ${document.month.spent} USD spent${document.month.cap === null ? '' : ` of ${document.month.cap}`}`,
        ]),
    ...(judged.length > 0 ? [`  verdicts    ${judged.join(', ')}`] : []),
    ...(waiting > 0
      ? [`  to review   ${counted(waiting, 'row')}: \`paydirt lists review ${list}\` shows what each may be`]
      : []),
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

function reachedAs({ references }: ListDocument, { people }: ListCalls['settings']): string {
  if (references) return 'are asked for, the most similar'
  return people ? `are asked for: ${people.perCompany} a company` : 'can be reached'
}

/** Returns the words for rows that a list is without: those at a company beyond the number that is wanted, or beyond the last page. */
export function withoutText(outside: number, perCompany: number | undefined | null): string {
  return perCompany
    ? `all that are wanted; ${outside} more work at these companies`
    : `all but ${outside} that the service does not answer`
}

function partsText({ parts }: ListDocument): string[] {
  const refused = ({ cut }: PartDocument) =>
    cut === null ? '' : `; cut: page ${cut.page} was refused${cut.code === null ? '' : ` (${cut.code})`}`
  const [first] = parts
  if (parts.length < 2)
    return first?.cut
      ? [
          `  cut         page ${first.cut.page} was refused${first.cut.code === null ? '' : ` (${first.cut.code})`}`,
        ]
      : []
  return parts.map((part) => {
    const state =
      part.total === null
        ? 'total unknown'
        : part.total === 0
          ? 'empty: no row has these filters'
          : `total ${part.total}, ${part.reachable === part.total ? 'all can be reached' : `${part.reachable} can be reached`}; ${counted(part.arrived, 'row')} on ${counted(part.pages, 'page')}`
    return `  part        ${printable(part.name)}: ${state}${refused(part)}`
  })
}

/** Returns the pages that are still to be bought, as far as they are known. */
export function leftOf(
  calls: ListCalls,
  { reachable, pages }: Pick<ListDocument, 'reachable' | 'pages'>,
  parts: ReadList['parts'],
): number {
  const bounds = boundsOf(calls)
  const left = parts.reduce((sum, part) => sum + (pagesLeft(part, bounds) ?? 1), 0)
  const limited = bounds.limit === undefined ? left : Math.ceil((reachable ?? 0) / bounds.pageSize) - pages
  return Math.max(0, Math.min(left, limited))
}

export function rowsText(rows: readonly JudgedStoredRow[], calls: Pick<ListCalls, 'similar'>): string {
  return rows
    .map(
      (row) =>
        `  ${row.verdict.padEnd(10)} ${nameOf(row)}  ${whyOf(row)}${rowSourceText(rowSource(calls, row.row))}\n`,
    )
    .join('')
}

/** Returns what a row is called, on one line. */
export function nameOf({ row: { values } }: { row: Pick<JudgedRow['row'], 'values'> }): string {
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
