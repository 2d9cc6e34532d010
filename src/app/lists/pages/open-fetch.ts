import { createHash } from 'node:crypto'
import { createListFetches, type ListFetch } from '../../../store/lists/list-fetches.ts'
import type { Context } from '../../context/context.ts'
import { callOf, type ListCalls } from './part-calls.ts'

export type FetchContext = Pick<Context, 'lookups' | 'suppressions' | 'database' | 'config' | 'now'>

/** Returns a digest of all that decides which rows a list has. Under others its rows are read again. */
export function fetchRules(calls: ListCalls): string {
  const { limit, exclude, like } = calls.settings
  const searches = calls.parts.map(({ name }, part) => [name, callOf(calls, part).key])
  return createHash('sha256')
    .update(JSON.stringify([searches, limit ?? null, exclude ?? null, ...(like ? [like] : [])]))
    .digest('hex')
}

/** Returns the newest fetch of a list, if it was made under the rules of now. It may be of long ago. */
export async function latestFetch(
  { database, now }: Pick<Context, 'database' | 'now'>,
  calls: ListCalls,
): Promise<ListFetch | undefined> {
  const latest = await createListFetches(database.db, { now }).latest(calls.keptAs)
  return latest?.rules === fetchRules(calls) ? latest : undefined
}

/** True while one of the pages of a fetch is fresh: until then nothing of it is bought again. */
export function isCurrent({ freshUntil }: ListFetch, now: Date): boolean {
  return freshUntil === null || freshUntil > now
}

/**
 * Returns the fetch that goes on: the newest one under these rules, as long as one of its pages is fresh. Otherwise begins one. With
 * `again` only a fetch goes on that was begun in the same way and has not ended, so that the same command loses nothing.
 */
export async function openFetch(
  { database, now }: Pick<Context, 'database' | 'now'>,
  calls: ListCalls,
  { again = false }: { again?: boolean | undefined } = {},
): Promise<ListFetch> {
  const rules = fetchRules(calls)
  return createListFetches(database.db, { now }).begin(
    { list: calls.keptAs, rules, isAgain: again, parts: calls.parts.map(({ name }) => name) },
    (latest) =>
      latest.rules === rules &&
      isCurrent(latest, now()) &&
      (!again || (latest.isAgain && latest.endedAt === null)),
  )
}
