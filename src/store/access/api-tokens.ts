import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Database } from '../database/database.ts'

export type TokenScope = 'enrich' | 'read' | 'admin'

export interface ApiToken {
  id: string
  name: string
  scopes: TokenScope[]
  /** The most calls that it may make in a minute. */
  perMinute: number
  /** The most that its calls may spend in a UTC day; null: no cap besides the general ones. */
  dayCapAtomic: Atomic | null
  createdAt: Date
  lastUsedAt: Date | null
  revokedAt: Date | null
}

export interface ApiTokenLedger {
  add(
    token: Pick<ApiToken, 'id' | 'name' | 'scopes' | 'perMinute' | 'dayCapAtomic'>,
    digest: string,
  ): Promise<void>
  list(): Promise<ApiToken[]>
  /**
   * Counts a call, and returns the token of this digest with its calls in this minute, over all processes and with this one
   * included. Returns undefined for an unknown or revoked token.
   */
  enter(digest: string): Promise<{ token: ApiToken; calls: number } | undefined>
  /** Returns false when there is no such token, or it was revoked before. */
  revoke(id: string): Promise<boolean>
  /** Returns the token that requested a run, with its cap for a day. */
  ofRun(runId: string): Promise<{ id: string; dayCapAtomic: Atomic | null } | undefined>
  /** Deletes the call counts of minutes before this time. */
  prune(before: Date): Promise<void>
}

const minuteMs = 60_000

export function createApiTokenLedger(db: Database, { now }: { now: () => Date }): ApiTokenLedger {
  return {
    async add({ id, name, scopes, perMinute, dayCapAtomic }, digest) {
      await db
        .insertInto('api_tokens')
        .values({
          id,
          name,
          digest,
          scopes,
          per_minute: perMinute,
          day_cap_atomic: dayCapAtomic,
          created_at: now(),
        })
        .execute()
    },

    async list() {
      const rows = await db.selectFrom('api_tokens').selectAll().orderBy('created_at').execute()
      return rows.map(toToken)
    },

    async enter(digest) {
      const at = now()
      const minute = new Date(Math.floor(at.getTime() / minuteMs) * minuteMs)
      const { rows } = await sql<TokenRow & { calls: number }>`
        with token as (
          select * from api_tokens where digest = ${digest} and revoked_at is null
        ), used as (
          update api_tokens set last_used_at = ${at}
          where id = (select id from token) and (last_used_at is null or last_used_at < ${minute})
        ), counted as (
          insert into api_token_calls (token_id, minute, calls) select id, ${minute}::timestamptz, 1 from token
          on conflict (token_id, minute) do update set calls = api_token_calls.calls + 1
          returning calls
        )
        select token.*, counted.calls from token, counted`.execute(db)
      const [row] = rows
      return row && { token: toToken(row), calls: row.calls }
    },

    async revoke(id) {
      const { numUpdatedRows } = await db
        .updateTable('api_tokens')
        .set({ revoked_at: now() })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async ofRun(runId) {
      const { rows } = await sql<{ id: string; day_cap_atomic: bigint | null }>`
        select api_tokens.id, day_cap_atomic from runs join api_tokens on api_tokens.id = runs.source ->> 'token'
        where runs.id = ${runId}`.execute(db)
      const [row] = rows
      return row && { id: row.id, dayCapAtomic: row.day_cap_atomic }
    },

    async prune(before) {
      await db.deleteFrom('api_token_calls').where('minute', '<', before).execute()
    },
  }
}

interface TokenRow {
  id: string
  name: string
  scopes: string[]
  per_minute: number
  day_cap_atomic: bigint | null
  created_at: Date
  last_used_at: Date | null
  revoked_at: Date | null
}

function toToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as TokenScope[],
    perMinute: row.per_minute,
    dayCapAtomic: row.day_cap_atomic,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  }
}
