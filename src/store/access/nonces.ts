import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** What may be used once, remembered for all processes. Only digests are kept, and only as long as they could be used. */
export interface NonceLedger {
  /** False when it was used before and is not forgotten yet. */
  use(digest: string, expiresAt: Date): Promise<boolean>
  /** It came to nothing through a fault of ours: the caller may come again with the same. */
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
