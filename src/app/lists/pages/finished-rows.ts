import type { StoredRow } from '../../../domain/lists/list-row.ts'
import { createListFetches } from '../../../store/lists/list-fetches.ts'
import { createListRows, keyOfRow } from '../../../store/lists/list-rows.ts'
import { objectOfList } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { fetchRules } from './open-fetch.ts'
import type { ListCalls } from './part-calls.ts'

const atOnce = 500

/** Yields the rows of the last fetch of a search that has ended, under the rules of now. None: there is no such fetch. */
export async function* finishedRows(
  { database: { db }, now }: Pick<Context, 'database' | 'now'>,
  calls: ListCalls,
): AsyncGenerator<StoredRow & { rowKey: string }> {
  const rules = fetchRules(calls)
  const [last] = await createListFetches(db, { now }).finished(calls.keptAs, 1)
  if (last?.rules !== rules) return
  const rows = createListRows(db)
  for (let ordinal = 0; ;) {
    const batch = await rows.after(last.id, objectOfList(calls.settings), ordinal, atOnce)
    for (const row of batch) yield { ...row, rowKey: keyOfRow(row, row.ordinal) }
    if (batch.length < atOnce) return
    ordinal = batch.at(-1)?.ordinal ?? ordinal
  }
}

/**
 * Returns the rows with the company at which each person was found, where the list searches for people at companies: that company is the
 * one to which a record of the person is tied.
 */
export async function withCompanies(
  context: Pick<Context, 'database' | 'now'>,
  { companies, company: only, parts }: Pick<ListCalls, 'companies' | 'company' | 'parts'>,
  rows: readonly StoredRow[],
): Promise<StoredRow[]> {
  if (only) return rows.map((row) => ({ ...row, company: only }))
  if (!companies) return [...rows]
  const { db } = context.database
  const keys = [...new Set(rows.flatMap(({ part }) => parts[part]?.name ?? []))]
  const [last] = await createListFetches(db, context).finished(companies.calls.keptAs, 1)
  const found = last ? await createListRows(db).byKey(last.id, 'company', keys) : new Map<string, StoredRow>()
  return rows.map((row) => {
    const key = parts[row.part]?.name ?? ''
    const company = found.get(key)
    if (!company) return row
    const { identity, identities, values, serviceId } = company
    return { ...row, company: { key, identity, identities, values, serviceId } }
  })
}
