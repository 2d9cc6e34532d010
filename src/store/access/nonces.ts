import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** Values that may be used once, across all processes. Only digests are stored, until the value expires. */
export interface NonceLedger {
  /** Returns false when the value was used before and has not expired. */
  use(digest: string, expiresAt: Date): Promise<boolean>
  /** Makes a value usable again. Called when the request failed through a fault of ours. */
  giveBack(digest: string): Promise<void>
  prune(): Promise<void>
}

export function createNonceLedger(db: Database, { now }: { now: () => Date }): NonceLedger {
  return {
    async use(digest, expiresAt) {
      const { rows } = await sql<{ digest: string }>`
        insert into replays (digest, expires_at) values (${digest}, ${expiresAt})
        on conflict (digest) do update set expires_at = excluded.expires_at where replays.expires_at <= ${now()}
        returning digest`.execute(db)
      return rows.length > 0
    },
    async giveBack(digest) {
      await db.deleteFrom('replays').where('digest', '=', digest).execute()
    },
    async prune() {
      await db.deleteFrom('replays').where('expires_at', '<=', now()).execute()
    },
  }
}
