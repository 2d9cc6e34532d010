import type { Selectable } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'

/** An action of a person or a caller that spends, retries, stops or changes something. Holds no personal data of records. */
export interface AuditedAction {
  /** The user's name, `token:<id>`, the CRM that called, or `cli`. */
  actor: string
  /** The user's role at the desk; `api` and `hook` for callers, `shell` for the command line. */
  role: string
  /** `spending.stop`, `sync.start`, `failures.retry` ... */
  action: string
  /** The target of the action: a run, a connector and object, a group of failures. */
  target?: string | undefined
  details?: Record<string, string | number | boolean | null> | undefined
}

export interface AuditRow extends AuditedAction {
  id: bigint
  at: Date
}

export interface AuditLog {
  record(action: AuditedAction): Promise<void>
  /** Returns the latest rows first; with `before`, those that are older than the row of this id. */
  list(limit: number, before?: bigint): Promise<AuditRow[]>
  /** Returns the latest row of an action. */
  lastOf(action: string): Promise<AuditRow | undefined>
}

/** Rows are only added, never changed. */
export function createAuditLog(db: Database, { now }: { now: () => Date }): AuditLog {
  return {
    async record({ actor, role, action, target, details }) {
      await db
        .insertInto('audit')
        .values({
          at: now(),
          actor,
          role,
          action,
          target: target ?? null,
          details: details === undefined ? null : JSON.stringify(details),
        })
        .execute()
    },

    async list(limit, before) {
      let query = db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(limit)
      if (before !== undefined) query = query.where('id', '<', before)
      return (await query.execute()).map(toRow)
    },

    async lastOf(action) {
      const row = await db
        .selectFrom('audit')
        .selectAll()
        .where('action', '=', action)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row && toRow(row)
    },
  }
}

function toRow(row: Selectable<Tables['audit']>): AuditRow {
  return { ...row, target: row.target ?? undefined, details: row.details ?? undefined }
}
