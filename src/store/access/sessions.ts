import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

export const deskRoles = ['viewer', 'operator', 'admin'] as const
export type DeskRole = (typeof deskRoles)[number]

interface Session {
  user: string
  role: DeskRole
  /** A digest that proves that the session was opened with the user's current password and role. */
  credential: string
}

export interface SessionLedger {
  /** Stores the session of a new token. */
  begin(token: string, session: Session): Promise<void>
  /** Returns undefined for a token that is unknown, idle for too long, or expired. Counts as activity. */
  find(token: string): Promise<Session | undefined>
  /** The same for a page's automatic requests, which do not count as activity. */
  peek(token: string): Promise<Session | undefined>
  end(token: string): Promise<void>
  /** Ends all sessions. Returns how many there were. */
  endAll(): Promise<number>
  /**
   * Counts an attempt to sign in. Called before the password is checked, so that concurrent attempts count too. Returns how
   * long to wait when there were too many failures.
   */
  attempt(address: string, name: string): Promise<{ waitMs: number } | undefined>
  /** Deletes the counts of an address and a name. Called when the password was right. */
  succeed(address: string, name: string): Promise<void>
  /** Deletes expired sessions and attempts that no longer count. */
  prune(): Promise<void>
}

export interface SessionLimits {
  idleMs: number
  lifetimeMs: number
}

/** A session's time of last activity is written at most this often. */
const touchMs = 60_000
const freeFailures = 5
const forgetMs = 30 * 60_000
/** A name is blocked only for a short time; otherwise anyone who knows it could lock its owner out. */
const maxBlockMs = { address: 15 * 60_000, name: 30_000 }

export function createSessionLedger(
  db: Database,
  { now, idleMs, lifetimeMs }: SessionLimits & { now: () => Date },
): SessionLedger {
  /** Counts in one row a scope, whose lock puts concurrent attempts in sequence. Returns how long to wait. */
  async function countAttempt(kind: 'address' | 'name', value: string): Promise<number> {
    const at = now()
    const failures = sql`case when known.last_at < ${new Date(at.getTime() - forgetMs)} then 1 else known.failures + 1 end`
    const blockMs = sql`least(power(2, least(${failures} - ${freeFailures}, 20)) * 1000, ${maxBlockMs[kind]})`
    const { rows } = await sql<{ blocked_until: Date | null; admitted: boolean }>`
      insert into desk_attempts as known (scope, failures, last_at, admitted) values (${scopeOf(kind, value)}, 1, ${at}, true)
      on conflict (scope) do update set
        admitted = coalesce(known.blocked_until <= ${at}, true),
        failures = case when known.blocked_until > ${at} then known.failures else ${failures} end,
        last_at = case when known.blocked_until > ${at} then known.last_at else ${at} end,
        blocked_until = case
          when known.blocked_until > ${at} then known.blocked_until
          when ${failures} >= ${freeFailures} then ${at}::timestamptz + ${blockMs} * interval '1 millisecond'
          else null end
      returning blocked_until, admitted`.execute(db)
    const [row] = rows
    return !row || row.admitted ? 0 : Math.max(1, (row.blocked_until?.getTime() ?? 0) - at.getTime())
  }

  async function look(token: string, at: Date): Promise<{ session: Session; seenAt: Date } | undefined> {
    const row = await db
      .selectFrom('desk_sessions')
      .select(['user_name', 'role', 'credential', 'seen_at'])
      .where('token_hash', '=', hashOf(token))
      .where('expires_at', '>', at)
      .where('seen_at', '>', new Date(at.getTime() - idleMs))
      .executeTakeFirst()
    return (
      row && {
        session: { user: row.user_name, role: row.role, credential: row.credential ?? '' },
        seenAt: row.seen_at,
      }
    )
  }

  return {
    async begin(token, { user, role, credential }) {
      const at = now()
      await db
        .insertInto('desk_sessions')
        .values({
          token_hash: hashOf(token),
          user_name: user,
          role,
          credential,
          created_at: at,
          seen_at: at,
          expires_at: new Date(at.getTime() + lifetimeMs),
        })
        .execute()
    },

    async find(token) {
      const at = now()
      const row = await look(token, at)
      if (row && at.getTime() - row.seenAt.getTime() > touchMs) {
        await db
          .updateTable('desk_sessions')
          .set({ seen_at: at })
          .where('token_hash', '=', hashOf(token))
          .execute()
      }
      return row?.session
    },

    async peek(token) {
      return (await look(token, now()))?.session
    },

    async end(token) {
      await db.deleteFrom('desk_sessions').where('token_hash', '=', hashOf(token)).execute()
    },

    async endAll() {
      const { numDeletedRows } = await db.deleteFrom('desk_sessions').executeTakeFirst()
      return Number(numDeletedRows)
    },

    async attempt(address, name) {
      // A blocked address does not count against the name; otherwise it could lock the name's owner out.
      const waitMs = (await countAttempt('address', address)) || (await countAttempt('name', name))
      return waitMs > 0 ? { waitMs } : undefined
    },

    async succeed(address, name) {
      await db
        .deleteFrom('desk_attempts')
        .where('scope', 'in', [scopeOf('address', address), scopeOf('name', name)])
        .execute()
    },

    async prune() {
      const at = now()
      await db.deleteFrom('desk_sessions').where('expires_at', '<', at).execute()
      await db
        .deleteFrom('desk_attempts')
        .where('last_at', '<', new Date(at.getTime() - forgetMs))
        .execute()
    },
  }
}

function scopeOf(kind: string, value: string): string {
  return `${kind}:${hashOf(value.toLowerCase())}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
