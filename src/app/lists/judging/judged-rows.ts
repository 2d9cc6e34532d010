import type { StoredRow } from '../../../domain/lists/list-row.ts'
import { domainsOf, identityText, type JudgedRow, type OtherRows } from '../../../domain/lists/verdicts.ts'
import type { Verdict } from '../../../domain/words.ts'
import type { Database } from '../../../store/database/database.ts'
import { createListRows } from '../../../store/lists/list-rows.ts'
import { objectOfList } from '../../config/lists.ts'
import type { ListCalls } from '../pages/list-calls.ts'
import { withCompanies } from '../pages/finished-rows.ts'
import { readList } from '../pages/read-list.ts'
import type { FetchContext } from '../pages/open-fetch.ts'
import { judgeList, type JudgeContext } from './judge-list.ts'

export type JudgedStoredRow = JudgedRow<StoredRow>

interface StreamOptions {
  /** Only rows with this verdict. */
  verdict?: Verdict | undefined
  /** The most rows of a batch. */
  atOnce?: number | undefined
  /** Judges a batch. Default: against the index. */
  judge?: ((rows: readonly StoredRow[], others: OtherRows) => Promise<JudgedStoredRow[]>) | undefined
}

const usualAtOnce = 500

/**
 * Yields the rows of a list in order, each with its verdict, in batches of at most 500, so that no list is held whole. Rows are compared
 * with earlier ones through the ledger. Pays nothing.
 */
export async function* judgedRows(
  context: JudgeContext & FetchContext,
  calls: ListCalls,
  options: StreamOptions = {},
): AsyncGenerator<JudgedStoredRow[]> {
  if (calls.given) {
    const judged = await judgeList(context, calls.settings, calls.given)
    if (judged.length > 0) yield judged
    return
  }
  const { fetch } = await readList(context, calls)
  if (fetch) yield* judgedRowsOf(context, calls, fetch.id, options)
}

/** The same of one fetch, whatever the ledger has got since. */
export async function* judgedRowsOf(
  context: JudgeContext,
  calls: Pick<ListCalls, 'settings' | 'companies' | 'company' | 'parts'>,
  fetchId: string,
  { verdict, atOnce = usualAtOnce, judge }: StreamOptions = {},
): AsyncGenerator<JudgedStoredRow[]> {
  const { settings } = calls
  const { db } = context.database
  const rows = createListRows(db)
  const object = objectOfList(settings)
  // Only domains of several rows are remembered: these few decide on later rows.
  const newAt = new Map<string, number>()
  for (let ordinal = 0; ;) {
    const batch = await withCompanies(context, calls, await rows.after(fetchId, object, ordinal, atOnce))
    if (batch.length === 0) return
    const { named, shared } = await firstRows(db, fetchId, batch)
    const others = { named, newAt }
    const judged = await (judge?.(batch, others) ?? judgeList(context, settings, batch, { others }))
    for (const each of judged)
      if (each.verdict === 'new')
        for (const domain of domainsOf(each.row))
          if (shared.has(domain) && !newAt.has(domain)) newAt.set(domain, each.ordinal)
    const wanted = verdict === undefined ? judged : judged.filter((each) => each.verdict === verdict)
    if (wanted.length > 0) yield wanted
    if (batch.length < atOnce) return
    ordinal = batch.at(-1)?.ordinal ?? ordinal
  }
}

/** Returns the first rows of the fetch that have a name of these rows, and the domains that other rows have too. */
async function firstRows(
  db: Database,
  fetchId: string,
  batch: readonly StoredRow[],
): Promise<{ named: Map<string, number>; shared: Set<string> }> {
  const found = await createListRows(db).firstWith(
    fetchId,
    batch.flatMap(({ identities }) => identities),
  )
  const named = new Map<string, number>()
  const shared = new Set<string>()
  for (const each of found) {
    // By its domain alone a row is the same as an earlier one only where that has no profile either.
    const first = each.kind === 'domain' ? each.alone : each.ordinal
    if (first !== null) named.set(identityText(each), first)
    if (each.kind === 'domain' && each.isShared) shared.add(each.value)
  }
  return { named, shared }
}
