import { sql, type Selectable } from 'kysely'
import { ConfigError } from '../../domain/errors.ts'
import type { Atomic } from '../../domain/money.ts'
import type { ClosedFields } from '../../domain/planning/could-write.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import type { RunState } from '../database/tables/states.ts'
import { forgetStops, isStoppedByPerson } from './parked-runs.ts'
import { isUnderWay, stopOf, stopText, type RunStop } from './run-stops.ts'

export interface Run {
  id: string
  connector: string
  object: ObjectKind
  entity: string
  recipe: string
  trigger: string
  state: RunState
  fingerprint: string
  source: Record<string, unknown>
  /** The point that its scan has reached; null before the first page. */
  watermark: string | null
  /** When its scan was complete; null before that. */
  scannedAt: Date | null
  records: number
  startedAt: Date
  finishedAt: Date | null
  /** The fields to which nothing could be written in any of its records; null before they are known. */
  closed: ClosedFields | null
}

export interface NewRun extends Pick<
  Run,
  'id' | 'connector' | 'object' | 'entity' | 'recipe' | 'trigger' | 'fingerprint' | 'source'
> {
  state?: RunState | undefined
}

/** The amounts that a run has paid: in USD, and on direct access in millionths of a credit. */
interface Spent {
  settledAtomic: Atomic
  creditsAtomic: Atomic
}

export interface RunLedger {
  /**
   * Begins a run, or resumes the unfinished one of the same fingerprint. Throws ConfigError `run_stopped` for one that a
   * person stopped.
   */
  open(run: NewRun): Promise<{ run: Run; resumed: boolean }>
  get(id: string): Promise<Run | undefined>
  list(limit: number): Promise<Run[]>
  /** Leaves a run stopped that a person stopped, until it has ended. */
  setState(id: string, state: RunState): Promise<void>
  /** True while a request of the run is on its way, or a record of it is complete and not yet written. */
  isUnderWay(id: string): Promise<boolean>
  /** Returns who stopped the run; undefined when no person did. */
  stopOf(id: string): Promise<RunStop | undefined>
  /** Stores the fields to which nothing could be written in any of the run's records. */
  setClosed(id: string, closed: ClosedFields): Promise<void>
  /** Records that the scan is complete. */
  markScanned(id: string): Promise<void>
  countRequests(
    id: string,
    counts: { unpaid?: number | undefined; rateLimited?: number | undefined },
  ): Promise<void>
  /** Returns what the run has paid so far. */
  spent(id: string): Promise<Spent>
  /** Deletes a run that was only planned. */
  dropPlanned(id: string): Promise<void>
}

export function createRunLedger(db: Database, options: { now: () => Date }): RunLedger {
  const { now } = options
  return {
    open: async function open(run): ReturnType<RunLedger['open']> {
      const opened = await db.transaction().execute(async (tx) => {
        const unfinished = await tx
          .selectFrom('runs')
          .selectAll()
          .where('fingerprint', '=', run.fingerprint)
          .where('state', 'in', ['scanning', 'working', 'stopped', 'parked'])
          .forUpdate()
          .executeTakeFirst()
        if (unfinished && run.state !== 'planned') {
          const stop = await stopOf(tx, unfinished.id)
          if (stop) throw stoppedByPerson(unfinished.id, stop)
          await tx.updateTable('runs').set({ state: 'scanning' }).where('id', '=', unfinished.id).execute()
          return { run: toRun({ ...unfinished, state: 'scanning' }), resumed: true }
        }
        const row = await tx
          .insertInto('runs')
          .values(newRunRow(run, now()))
          .onConflict((conflict) => conflict.doNothing())
          .returningAll()
          .executeTakeFirst()
        return row && { run: toRun(row), resumed: false }
      })
      // Another process has begun the same run in between.
      return opened ?? open(run)
    },

    async get(id) {
      const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toRun(row)
    },

    async list(limit) {
      const rows = await db
        .selectFrom('runs')
        .selectAll()
        .where('state', '!=', 'planned')
        .orderBy('started_at', 'desc')
        .limit(limit)
        .execute()
      return rows.map(toRun)
    },

    async setState(id, state) {
      const finishedAt = state === 'finished' || state === 'failed' ? now() : null
      await sql`
        update runs set finished_at = ${finishedAt}::timestamptz, state = case
          when ${state}::text in ('scanning', 'working', 'parked') and ${isStoppedByPerson(sql`runs.id`)} then 'stopped'
          else ${state}::text end
        where id = ${id}`.execute(db)
      if (finishedAt) await forgetStops(db, [id])
    },

    stopOf: (id) => stopOf(db, id),

    isUnderWay: (id) => isUnderWay(db, id),

    async setClosed(id, closed) {
      const text = JSON.stringify(closed)
      await sql`
        update runs set closed = ${text}::jsonb where id = ${id} and closed is distinct from ${text}::jsonb`.execute(
        db,
      )
    },

    async markScanned(id) {
      await db
        .updateTable('runs')
        // A plan stays planned: it is scanned like a run, but never worked on.
        .set({
          scanned_at: now(),
          state: sql<RunState>`case state when 'scanning' then 'working' else state end`,
        })
        .where('id', '=', id)
        .execute()
    },

    async countRequests(id, { unpaid = 0, rateLimited = 0 }) {
      if (unpaid === 0 && rateLimited === 0) return
      await db
        .updateTable('runs')
        .set((eb) => ({
          requests_unpaid: eb('requests_unpaid', '+', unpaid),
          requests_limited: eb('requests_limited', '+', rateLimited),
        }))
        .where('id', '=', id)
        .execute()
    },

    async spent(id) {
      const { rows } = await sql<Spent>`
        select coalesce(sum(amount_atomic) filter (where currency = 'USD'), 0)::bigint as "settledAtomic",
          coalesce(sum(amount_atomic) filter (where currency = 'credit'), 0)::bigint as "creditsAtomic"
        from charges where run_id = ${id} and state = 'settled'`.execute(db)
      return rows[0] ?? { settledAtomic: 0n, creditsAtomic: 0n }
    },

    async dropPlanned(id) {
      await db.transaction().execute(async (tx) => {
        const planned = tx.selectFrom('runs').select('id').where('id', '=', id).where('state', '=', 'planned')
        await tx.deleteFrom('tasks').where('run_id', 'in', planned).execute()
        await tx.deleteFrom('runs').where('id', 'in', planned).execute()
      })
    },
  }
}

/** Returns the row of a run that begins; by default it reads its source first. */
export function newRunRow(run: NewRun, startedAt: Date) {
  return {
    id: run.id,
    connector: run.connector,
    object: run.object,
    entity: run.entity,
    recipe: run.recipe,
    trigger: run.trigger,
    state: run.state ?? ('scanning' as const),
    fingerprint: run.fingerprint,
    source: JSON.stringify(run.source),
    started_at: startedAt,
  }
}

function stoppedByPerson(id: string, stop: RunStop): ConfigError {
  return new ConfigError(
    'run_stopped',
    `run ${id} of the same source was ${stopText(stop)} (${stop.at.toISOString()}). Continue it with \`paydirt runs ${id} --resume\`, or on its page of the desk`,
  )
}

function toRun(row: Selectable<Tables['runs']>): Run {
  const { started_at: startedAt, finished_at: finishedAt, scanned_at: scannedAt, ...rest } = row
  return { ...rest, startedAt, finishedAt, scannedAt }
}
