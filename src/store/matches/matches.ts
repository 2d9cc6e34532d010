import { sql, type Selectable } from 'kysely'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'
import type {
  MatchOutcome,
  MatchState,
  MatchTables,
  PlannedStep,
  StoredCompany,
  StoredSignal,
} from '../database/tables/match-tables.ts'

/** A company that a declared monitor has named, and the work that is done for it. Its id is that of its run. */
export interface Match {
  id: string
  monitor: string
  company: StoredCompany
  identities: RecordIdentity[]
  signals: StoredSignal[]
  state: MatchState
  outcome: MatchOutcome | null
  reason: string | null
  recordId: string | null
  plans: Partial<Record<PlannedStep, string>>
  takenAt: Date
  tries: number
}

type NewMatch = Pick<Match, 'id' | 'monitor' | 'company' | 'identities' | 'signals'>

/** The end of one step, as a task of the match's run. */
interface EndedStep {
  ordinal: number
  recordId: string
  status: TaskStatus
  reason: string
}

export interface Matches {
  /**
   * Stores a match that is due at once, unless the monitor has had one since for a company of the same identity. Returns the id of the
   * one there is.
   */
  take(match: NewMatch, since: Date): Promise<{ id: string; isNew: boolean }>
  get(id: string): Promise<Match | undefined>
  /** Leases matches that are due, or that one, so that one process works on each and another takes over after a crash. */
  lease(options: { limit: number; leaseMs: number; id?: string }): Promise<Match[]>
  renew(id: string, leaseMs: number): Promise<void>
  /** Notes a plan before it is made. */
  notePlan(id: string, step: PlannedStep, planId: string): Promise<void>
  noteRecord(id: string, recordId: string): Promise<void>
  postpone(id: string, state: 'waiting' | 'review', dueAt: Date, reason: string): Promise<void>
  end(id: string, outcome: MatchOutcome, reason: string): Promise<void>
  /** Adds a step to its run. One that is there stays. */
  endStep(id: string, step: EndedStep): Promise<void>
  /** Returns the matches of a monitor whose company waits for a person, oldest first. */
  inReview(monitor: string, limit: number): Promise<Match[]>
}

export function createMatches(db: Database, { now }: { now: () => Date }): Matches {
  return {
    async take({ id, monitor, company, identities, signals }, since) {
      return db.transaction().execute(async (tx) => {
        // One at a time a monitor, so that two deliveries of one company never both find none.
        await sql`select pg_advisory_xact_lock(hashtext(${`matches ${monitor}`}))`.execute(tx)
        const { rows } = await sql<{ id: string }>`
          select id from matches as kept where monitor = ${monitor} and taken_at > ${since}::timestamptz
            and exists (select from jsonb_to_recordset(kept.identities) as own (kind text, value text)
              join jsonb_to_recordset(${storableJson(identities)}::jsonb) as wanted (kind text, value text)
                on own.kind = wanted.kind and own.value = wanted.value)
          order by taken_at desc limit 1`.execute(tx)
        const [before] = rows
        if (before) return { id: before.id, isNew: false }
        const at = now()
        await tx
          .insertInto('matches')
          .values({
            id,
            monitor,
            company: storableJson(company),
            identities: storableJson(identities),
            signals: storableJson(signals),
            state: 'waiting',
            outcome: null,
            reason: null,
            record_id: null,
            plans: '{}',
            taken_at: at,
            due_at: at,
            done_at: null,
          })
          .execute()
        return { id, isNew: true }
      })
    },

    async get(id) {
      const row = await db.selectFrom('matches').selectAll().where('id', '=', id).executeTakeFirst()
      return row && matchOf(row)
    },

    async lease({ limit, leaseMs, id }) {
      const at = now()
      const which = id === undefined ? sql`` : sql`and id = ${id}`
      const { rows } = await sql<Selectable<MatchTables['matches']>>`
        with due as (
          select id from matches where state <> 'done' and due_at <= ${at}::timestamptz ${which}
          order by due_at, id limit ${limit} for update skip locked
        )
        update matches set due_at = ${new Date(at.getTime() + leaseMs)}::timestamptz, tries = tries + 1
        from due where matches.id = due.id returning matches.*`.execute(db)
      return rows.map(matchOf)
    },

    async renew(id, leaseMs) {
      await db
        .updateTable('matches')
        .set({ due_at: new Date(now().getTime() + leaseMs) })
        .where('id', '=', id)
        .where('state', '<>', 'done')
        .execute()
    },

    async notePlan(id, step, planId) {
      await sql`update matches set plans = plans || jsonb_build_object(${step}::text, ${planId}::text)
        where id = ${id}`.execute(db)
    },

    async noteRecord(id, recordId) {
      await db.updateTable('matches').set({ record_id: recordId }).where('id', '=', id).execute()
    },

    async postpone(id, state, dueAt, reason) {
      await db
        .updateTable('matches')
        .set({ state, due_at: dueAt, reason })
        .where('id', '=', id)
        .where('state', '<>', 'done')
        .execute()
    },

    async end(id, outcome, reason) {
      await db
        .updateTable('matches')
        .set({ state: 'done', outcome, reason, done_at: now() })
        .where('id', '=', id)
        .execute()
    },

    async endStep(id, { ordinal, recordId, status, reason }) {
      await sql`
        with told as (
          insert into tasks (run_id, ordinal, record_id, identity, status, reason, updated_at)
          values (${id}, ${ordinal}, ${recordId}, '{}', ${status}, ${reason}, ${now()}::timestamptz)
          on conflict do nothing returning 1
        ) update runs set records = records + (select count(*) from told) where id = ${id}`.execute(db)
    },

    async inReview(monitor, limit) {
      const rows = await db
        .selectFrom('matches')
        .selectAll()
        .where('monitor', '=', monitor)
        .where('state', '=', 'review')
        .orderBy('taken_at')
        .limit(limit)
        .execute()
      return rows.map(matchOf)
    },
  }
}

/** Erases companies from matches, by identities that are theirs alone. One that is under way ends. Returns the number of rows. */
export async function eraseMatches(
  tx: Database,
  identities: readonly RecordIdentity[],
  now: () => Date,
): Promise<number> {
  if (identities.length === 0) return 0
  const { rows } = await sql`
    update matches as kept set company = '{"serviceId": null, "identity": {}, "values": {}}', identities = '[]',
      signals = '[]', record_id = null, state = 'done', outcome = coalesce(outcome, 'left'), reason = 'forgotten',
      done_at = coalesce(done_at, ${now()}::timestamptz)
    where exists (select from jsonb_to_recordset(kept.identities) as own (kind text, value text)
      join jsonb_to_recordset(${storableJson(identities)}::jsonb) as wanted (kind text, value text)
        on own.kind = wanted.kind and own.value = wanted.value)
    returning 1`.execute(tx)
  return rows.length
}

function matchOf(row: Selectable<MatchTables['matches']>): Match {
  const { id, monitor, company, identities, signals, state, outcome, reason, plans } = row
  return {
    id,
    monitor,
    company,
    identities,
    signals,
    state,
    outcome,
    reason,
    recordId: row.record_id,
    plans,
    takenAt: row.taken_at,
    tries: Number(row.tries),
  }
}
