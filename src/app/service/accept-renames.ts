import type { Operation } from '../../domain/words.ts'
import { operationsAt } from '../../service/catalogue/operations-at.ts'
import { withRenames } from '../../service/catalogue/with-renames.ts'
import { acceptRename, expireRenamed, renamesOf } from '../../store/contract/accepted-renames.ts'
import { knownWarnings } from '../../store/ledger/service-warnings.ts'
import type { Context } from '../context/context.ts'

/** A new name that answers have announced for a key of requests. */
export interface AnnouncedRename {
  /** The key of the catalogue. */
  field: string
  /** The name under which it is sent today. */
  sentAs: string
  /** Undefined where the answers say that it is renamed, and not to what. */
  to: string | undefined
  seenAt: Date
}

/** Returns the new names of an operation's keys that answers have announced and no one has accepted. */
export async function announcedRenames(
  { database, config }: Pick<Context, 'database' | 'config'>,
  operation: Operation,
): Promise<AnnouncedRename[]> {
  const { db } = database
  const catalogue = withRenames(config.catalogue, await renamesOf(db, operation))
  const contract = catalogue.of(operation)
  const keys = new Map(
    [...Object.keys(contract.request), ...Object.keys(contract.batchRequest ?? {})].map((field) => [
      contract.wireNames[field] ?? field,
      field,
    ]),
  )
  return (await knownWarnings(db)).flatMap(({ endpoint, kind, field: sentAs, to, firstSeenAt }) => {
    const field = keys.get(sentAs)
    if (kind !== 'renamed' || field === undefined || to === sentAs) return []
    if (!operationsAt(catalogue, endpoint).includes(contract)) return []
    return [{ field, sentAs, to, seenAt: firstSeenAt }]
  })
}

/**
 * Accepts new names of keys: requests bear them from the next start of a process on. Answers to requests with the old names are made
 * stale. Returns how many of these there were.
 */
export async function acceptRenames(
  { database, now }: Pick<Context, 'database' | 'now'>,
  operation: Operation,
  renames: readonly AnnouncedRename[],
): Promise<number> {
  const at = now()
  return database.db.transaction().execute(async (tx) => {
    for (const { field, to } of renames)
      if (to !== undefined) await acceptRename(tx, { operation, field, wireName: to, acceptedAt: at })
    return expireRenamed(tx, operation, at)
  })
}
