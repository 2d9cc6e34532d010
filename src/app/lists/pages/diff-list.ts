import { rowsWithout, type ChangedRow } from '../../../store/lists/diff-rows.ts'
import { createListFetches, type ListFetch } from '../../../store/lists/list-fetches.ts'
import type { Context } from '../../context/context.ts'

/** The last two fetches of a list. */
export interface ComparedFetches {
  /** The newest one, which may be under way. */
  now: ListFetch
  /** The last one before it that has ended with all its rows. */
  since: ListFetch
}

const atOnce = 500

/** Returns the fetches that a list's changes are those between. Undefined: there is nothing to compare yet. */
export async function comparedFetches(
  { database, now }: Pick<Context, 'database' | 'now'>,
  list: string,
): Promise<ComparedFetches | undefined> {
  const fetches = createListFetches(database.db, { now })
  const latest = await fetches.latest(list)
  if (!latest) return undefined
  const since = (await fetches.finished(list, 2)).find(({ id }) => id !== latest.id)
  return since && { now: latest, since }
}

/** Yields the rows of one fetch that another one lacks, in batches. */
export async function* changedRows(
  { database }: Pick<Context, 'database'>,
  fetches: { of: string; without: string },
): AsyncGenerator<ChangedRow[]> {
  for (let ordinal = 0; ;) {
    const rows = await rowsWithout(database.db, fetches, ordinal, atOnce)
    if (rows.length > 0) yield rows
    if (rows.length < atOnce) return
    ordinal = rows.at(-1)?.ordinal ?? ordinal
  }
}
