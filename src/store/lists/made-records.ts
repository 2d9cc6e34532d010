import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { StoredSnapshot } from '../database/tables/identity-tables.ts'
import type { CreatedState } from '../database/tables/states.ts'

/** A record that a run has made, or may have made. */
export interface MadeRecord {
  ordinal: number
  entity: string
  state: CreatedState
  /** Null: it is not known, or its subject was forgotten. */
  recordId: string | null
  snapshot: StoredSnapshot | null
  /** An undo has sent it to be archived before. */
  isArchiveSent: boolean
}

export interface MadeRecords {
  /** Returns the records of a run that were made or may have been, behind this place, in their order. */
  page(runId: string, after: number, limit: number): Promise<MadeRecord[]>
  markArchiveSent(runId: string, ordinals: readonly number[]): Promise<void>
  /** Notes that records are archived, and releases their identities: a later plan may make them again. */
  markArchived(runId: string, ordinals: readonly number[]): Promise<void>
}

/**
 * The records that lists have made, for taking them back.
 *
 * Crash window: a record is archived and the ledger does not know it. It was marked as sent before, so the next undo finds it gone and
 * counts it as archived by us.
 */
export function createMadeRecords(db: Database, { now }: { now: () => Date }): MadeRecords {
  return {
    async page(runId, after, limit) {
      const rows = await db
        .selectFrom('created_records')
        .select(['ordinal', 'entity', 'state', 'record_id', 'snapshot', 'archive_sent_at'])
        .where('run_id', '=', runId)
        .where('ordinal', '>', after)
        .where('state', 'in', ['intent', 'sent', 'created', 'archived'])
        .orderBy('ordinal')
        .limit(limit)
        .execute()
      return rows.map(({ ordinal, entity, state, record_id: recordId, snapshot, archive_sent_at: sent }) => ({
        ordinal,
        entity,
        state,
        recordId,
        snapshot,
        isArchiveSent: sent !== null,
      }))
    },

    async markArchiveSent(runId, ordinals) {
      if (ordinals.length === 0) return
      await db
        .updateTable('created_records')
        .set({ archive_sent_at: now() })
        .where('run_id', '=', runId)
        .where('ordinal', 'in', [...ordinals])
        .execute()
    },

    async markArchived(runId, ordinals) {
      if (ordinals.length === 0) return
      await sql`
        with done as (
          update created_records set state = 'archived', archived_at = ${now()}::timestamptz
          where run_id = ${runId} and ordinal = any(${[...ordinals]}::int[]) and state = 'created' returning id
        ) delete from reserved_identities using done where created_id = done.id`.execute(db)
    },
  }
}
