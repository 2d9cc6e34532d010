import { boundsOf, callOf, type ListCalls } from '../../app/lists/pages/list-calls.ts'
import type { FetchContext } from '../../app/lists/pages/open-fetch.ts'
import { readList, type ReadList } from '../../app/lists/pages/read-list.ts'
import { namedBy, similarityOf } from '../../domain/lists/fuse-ranks.ts'
import { pagesLeft } from '../../domain/lists/list-parts.ts'
import type { StoredRow } from '../../domain/lists/list-row.ts'
import { formatUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { printable } from '../../domain/values/printable.ts'

/** The sources of a list's questions, beside its own search. Null: it has no such source. */
export interface SourceDocument {
  references: {
    count: number
    /** The references that were given once more, in another spelling. */
    repeated: number
    /** Those that nothing can be asked of. */
    skipped: { place: string; reason: string }[]
  } | null
  companies: {
    total: number | null
    reachable: number | null
    rows: number
    pages: number
    isComplete: boolean
  } | null
  /** The requests that are still to be paid, and what they cost at most. Null: a page tells it first. */
  questions: { left: number | null; atMostUsd: string | null }
}

export async function sourceDocument(
  context: FetchContext,
  calls: ListCalls,
  list: ReadList,
): Promise<SourceDocument> {
  const { similar, companies } = calls
  const search = companies && (await readList(context, companies.calls))
  const left = pagesOf(calls, list)
  const ofCompanies = companies && search && pagesOf(companies.calls, search)
  const whole = companies ? (ofCompanies === 0 ? left : null) : left
  return {
    references: similar
      ? { count: similar.references.length, repeated: similar.repeated, skipped: similar.skipped }
      : null,
    companies: search
      ? {
          total: search.total,
          reachable: search.reachable,
          rows: search.rows,
          pages: search.pages,
          isComplete: search.isComplete,
        }
      : null,
    questions: { left: whole, atMostUsd: costOf(calls, whole) },
  }
}

/** Returns the requests of a search that are still to be paid. Null: its first page tells it. */
function pagesOf(calls: ListCalls, list: ReadList): number | null {
  if (list.isComplete && list.isCurrent) return 0
  const bounds = boundsOf(calls)
  const { parts, similar } = calls
  if (!list.isCurrent || list.parts.length === 0)
    return similar || calls.companies ? parts.length * (bounds.lastPage ?? 1) : null
  const left = list.parts.reduce((sum, part) => sum + (pagesLeft(part, bounds) ?? bounds.lastPage ?? 1), 0)
  if (bounds.limit === undefined || calls.companies) return left
  return Math.max(0, Math.min(left, Math.ceil((list.reachable ?? 0) / bounds.pageSize) - list.pages))
}

function costOf(calls: ListCalls, pages: number | null): string | null {
  const { capAtomic } = pages ? callOf(calls) : { capAtomic: undefined }
  if (pages === null || (pages > 0 && capAtomic === undefined)) return null
  return formatUsd((capAtomic ?? 0n) * BigInt(pages))
}

/** Returns the lines on the references and companies of a list; none for a list without them. */
export function sourceLines(
  { references, companies, questions }: SourceDocument,
  parts: readonly { name: string; cut: unknown }[],
): string[] {
  const most = questions.atMostUsd === null ? '' : `, ${questions.atMostUsd} USD at most`
  const left =
    questions.left === null || questions.left === 0
      ? []
      : [`  to ask      ${counted(questions.left, 'question')}${most}`]
  return [
    ...(references
      ? [
          `  references  ${references.count}, one question each${references.repeated > 0 ? `; ${references.repeated} given once more` : ''}`,
          ...references.skipped
            .slice(0, shownSkipped)
            .map(({ place, reason }) => `  skipped     ${printable(place)}: ${reason}`),
          ...(references.skipped.length > shownSkipped
            ? [`  skipped     and ${references.skipped.length - shownSkipped} more`]
            : []),
        ]
      : []),
    ...(companies
      ? [
          companies.total === null
            ? '  companies   unknown before their page 1 is bought; then one question each'
            : `  companies   ${companies.rows} in the ledger of ${companies.reachable ?? companies.total}${companies.isComplete ? ': complete' : ''}; one question each`,
        ]
      : []),
    ...(references || companies
      ? [
          ...left,
          ...parts
            .filter(({ cut }) => cut)
            .slice(0, shownSkipped)
            .map(({ name }) => `  refused     ${printable(name)}: the service did not answer it`),
        ]
      : []),
  ]
}

const shownSkipped = 5

/** The similarity of a row, with the references that named it, the nearest first. */
export interface RowSource {
  score: number | null
  namedBy: { reference: string; rank: number; score: number | null }[]
}

/** Returns where a row of a similar list came from; undefined for other lists. */
export function rowSource(
  { similar }: Pick<ListCalls, 'similar'>,
  { object, found }: StoredRow,
): RowSource | undefined {
  if (!similar) return undefined
  return {
    score: similarityOf(object, found),
    namedBy: namedBy(found).map(({ part, rank, score }) => ({
      reference: similar.references[part]?.name ?? `reference ${part + 1}`,
      rank,
      score: score ?? null,
    })),
  }
}

/** Returns the same on one line. */
export function rowSourceText(source: RowSource | undefined): string {
  if (!source) return ''
  const names = source.namedBy.slice(0, 3).map(({ reference, rank }) => `${reference} (${rank})`)
  const more = source.namedBy.length > 3 ? ` and ${source.namedBy.length - 3} more` : ''
  return printable(
    `  ${source.score === null ? 'no score' : source.score.toFixed(4)}, like ${names.join(', ')}${more}`,
  )
}
