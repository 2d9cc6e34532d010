import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import {
  countedRows,
  nextPage,
  withPage,
  type FoundAt,
  type ListPart,
  type PageBounds,
} from '../../domain/lists/list-parts.ts'
import type { ListRow } from '../../domain/lists/list-row.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'
import { toFetch, type ListFetch } from './list-fetches.ts'
import { firstPageDigest } from './first-page.ts'
import { createListRows, keyOfRow, tellRows } from './list-rows.ts'
import { rankRows, type Ranking } from './rank-rows.ts'

/** A page that the ledger has. */
export interface LedgerPage {
  part: number
  page: number
  lookupKey: LookupKey
  freshUntil: Date
  total: number | null
  /** The rows that the service sent, also those that the ledger does not keep. */
  arrived: number
  /** The rows that the ledger does not keep, by reason. */
  dropped: Readonly<Record<string, number>>
  rows: readonly PageRow[]
}

interface PageRow {
  row: ListRow
  /** Its place on the page, from 0. */
  place: number
  /** The verdict for which it is not kept. */
  dropAs?: string | undefined
  score?: number | undefined
}

/** The bounds of the list, and the order of its rows where references named them. */
export interface TakeOptions {
  bounds: PageBounds
  now: () => Date
  ranking?: Ranking | undefined
}

/**
 * Stores the rows of a page, each once, and returns the fetch behind it. A page that was stored before changes nothing.
 *
 * Crash window: the rows and the place behind their page are one transaction, so a kill leaves the page stored and counted, or neither.
 * Then it is read from the ledger again, which pays nothing.
 */
export async function takePage(
  db: Database,
  fetchId: string,
  page: LedgerPage,
  { bounds, now, ranking }: TakeOptions,
): Promise<ListFetch> {
  return db.transaction().execute(async (tx) => {
    const fetch = await lockFetch(tx, fetchId)
    const part = fetch.parts[page.part]
    if (!part || fetch.endedAt !== null || part.isEnded || part.pages !== page.page - 1) return fetch
    const sorted = await sortRows(tx, fetch, part, page, bounds.limit)
    await insertRows(tx, fetch.id, page, sorted.fresh)
    await noteFound(tx, fetch.id, sorted.elsewhere)
    const first = page.page === 1 ? firstPageDigest(page) : part.first
    const parts = fetch.parts.with(
      page.part,
      withPage(
        { ...part, ...(first === undefined ? {} : { first }) },
        {
          total: page.total,
          rows: page.arrived,
          repeated: sorted.repeated,
          overlap: sorted.elsewhere.length,
        },
        bounds,
      ),
    )
    const dropped = { ...fetch.dropped }
    for (const [reason, count] of Object.entries(page.dropped))
      dropped[reason] = (dropped[reason] ?? 0) + count
    for (const verdict of sorted.dropped) dropped[verdict] = (dropped[verdict] ?? 0) + 1
    const freshUntil =
      fetch.freshUntil && fetch.freshUntil > page.freshUntil ? fetch.freshUntil : page.freshUntil
    const next = {
      ...fetch,
      arrived: fetch.arrived + page.arrived,
      stored: fetch.stored + sorted.fresh.length,
      dropped,
      freshUntil,
      parts,
      ...endingOf(parts, bounds, now()),
    }
    return storeFetch(tx, await ranked(tx, next, ranking))
  })
}

/** Ends a part at a page that the service has refused. */
export async function cutPart(
  db: Database,
  fetchId: string,
  { part, page, code }: { part: number; page: number; code: string | null },
  { bounds, now, ranking }: TakeOptions,
): Promise<ListFetch> {
  return db.transaction().execute(async (tx) => {
    const fetch = await lockFetch(tx, fetchId)
    const before = fetch.parts[part]
    if (!before || fetch.endedAt !== null || before.isEnded) return fetch
    const parts = fetch.parts.with(part, { ...before, isEnded: true, cut: { page, code } })
    const next = { ...fetch, parts, ...endingOf(parts, bounds, now()) }
    return storeFetch(tx, await ranked(tx, next, ranking))
  })
}

/** Puts the rows of a fetch in order, once it has ended and no further reference can name them. */
async function ranked(tx: Database, fetch: ListFetch, ranking: Ranking | undefined): Promise<ListFetch> {
  if (fetch.endedAt === null || !ranking) return fetch
  const { stored, below } = await rankRows(tx, fetch.id, ranking)
  const excluded = (fetch.dropped['excluded'] ?? 0) + below
  return { ...fetch, stored, dropped: { ...fetch.dropped, ...(excluded > 0 && { excluded }) } }
}

/** Returns a fetch, which no other process changes before the transaction has ended. */
export async function lockFetch(tx: Database, fetchId: string): Promise<ListFetch> {
  const row = await tx
    .selectFrom('list_fetches')
    .selectAll()
    .where('id', '=', BigInt(fetchId))
    .forUpdate()
    .executeTakeFirstOrThrow()
  return toFetch(row)
}

export async function storeFetch(tx: Database, fetch: ListFetch): Promise<ListFetch> {
  await tx
    .updateTable('list_fetches')
    .set({
      arrived: BigInt(fetch.arrived),
      stored: BigInt(fetch.stored),
      dropped: JSON.stringify(fetch.dropped),
      fresh_until: fetch.freshUntil,
      parts: JSON.stringify(fetch.parts),
      ended_at: fetch.endedAt,
      ending: fetch.ending,
    })
    .where('id', '=', BigInt(fetch.id))
    .execute()
  return fetch
}

function endingOf(
  parts: readonly ListPart[],
  bounds: PageBounds,
  at: Date,
): Pick<ListFetch, 'endedAt' | 'ending'> {
  if (nextPage(parts, bounds)) return { endedAt: null, ending: null }
  return { endedAt: at, ending: parts.some(({ cut }) => cut) ? 'cut' : 'complete' }
}

type FreshRow = ListRow & { ordinal: number; at: FoundAt }

/** Divides the rows of a page into those that are new, those that other parts have brought, and those that are not kept. */
async function sortRows(
  tx: Database,
  fetch: ListFetch,
  part: ListPart,
  page: LedgerPage,
  limit: number | undefined,
) {
  const keys = page.rows.flatMap(({ row }) => (row.serviceId === null ? [] : [keyOfRow(row, 0)]))
  const known = await createListRows(tx).known(fetch.id, keys)
  const fresh: FreshRow[] = []
  const elsewhere: { ordinal: number; at: FoundAt }[] = []
  const dropped: string[] = []
  const seen = new Set<string>()
  let repeated = 0
  const counted = countedRows(fetch.parts)
  for (const { row, place, dropAs, score } of page.rows) {
    const ordinal = fetch.arrived + place + 1
    const at: FoundAt = {
      part: page.part,
      page: page.page,
      rank: part.arrived + place + 1,
      ...(score === undefined ? {} : { score }),
    }
    const key = keyOfRow(row, ordinal)
    const before = known.get(key)
    if (seen.has(key) || before?.found.some((each) => each.part === page.part)) repeated += 1
    else if (before) elsewhere.push({ ordinal: before.ordinal, at })
    else if (limit === undefined || counted + place - elsewhere.length < limit) {
      if (dropAs === undefined) fresh.push({ ...row, ordinal, at })
      else dropped.push(dropAs)
    }
    seen.add(key)
  }
  return { fresh, elsewhere, dropped, repeated }
}

async function insertRows(
  tx: Database,
  fetchId: string,
  { part, page, lookupKey }: LedgerPage,
  fresh: readonly FreshRow[],
): Promise<void> {
  if (fresh.length === 0) return
  const rows = fresh.map((row) => ({
    ordinal: row.ordinal,
    row_key: keyOfRow(row, row.ordinal),
    identity: row.identity,
    identities: row.identities,
    cells: row.values,
    found: [row.at],
  }))
  await sql`
    insert into list_rows (fetch_id, ordinal, part, page, lookup_key, row_key, identity, identities, cells, found)
    select ${fetchId}::bigint, ordinal, ${part}::bigint, ${page}::bigint, ${lookupKey}, row_key, identity, identities, cells,
      found
    from jsonb_to_recordset(${storableJson(rows)}::jsonb)
      as given (ordinal bigint, row_key text, identity jsonb, identities jsonb, cells jsonb, found jsonb)`.execute(
    tx,
  )
  await tellRows(tx, fetchId, fresh)
}

async function noteFound(
  tx: Database,
  fetchId: string,
  rows: readonly { ordinal: number; at: FoundAt }[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    update list_rows as kept set found = kept.found || given.at
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given (ordinal bigint, at jsonb)
    where kept.fetch_id = ${fetchId}::bigint and kept.ordinal = given.ordinal`.execute(tx)
}
