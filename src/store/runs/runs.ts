import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import { freeOperations, type ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import type { RunState } from '../database/schema.ts'

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
  /** Where its scan stands; null before the first page. */
  watermark: string | null
  /** When its scan had gone through everything; null while it has not. */
  scannedAt: Date | null
  records: number
  startedAt: Date
  finishedAt: Date | null
}

/** A run's figures, straight from the ledger. Free lookups (logos) are not counted among what was bought. */
interface RunFigures {
  lookups: {
    unique: number
    paid: number
    cached: number
    notFound: number
    duplicates: number
    open: number
  }
  /** In USD; what direct access took stands apart, in millionths of a credit. */
  spend: { settledAtomic: Atomic; inDoubtAtomic: Atomic; lostAtomic: Atomic; creditsAtomic: bigint }
  requests: { sent: number; rateLimited: number }
  refusals: { rule: string; message: string; count: number }[]
}

export interface RunLedger {
  /** Begins a run, or goes on with the unfinished one of the same fingerprint. */
  open(
    run: Omit<Run, 'finishedAt' | 'records' | 'state' | 'startedAt' | 'watermark' | 'scannedAt'> & {
      state?: RunState
    },
  ): Promise<{ run: Run; resumed: boolean }>
  get(id: string): Promise<Run | undefined>
  list(limit: number): Promise<Run[]>
  setState(id: string, state: RunState): Promise<void>
  /** The scan has gone through everything. */
  markScanned(id: string): Promise<void>
  countRequests(id: string, counts: { unpaid?: number; rateLimited?: number }): Promise<void>
  figures(id: string): Promise<RunFigures>
  /** What the run has paid so far. */
  spent(id: string): Promise<Atomic>
  /** Forgets a run of which only a plan was made. */
  dropPlanned(id: string): Promise<void>
}

export function createRunLedger(db: Database, options: { now: () => Date }): RunLedger {
  const { now } = options
  const paidOnly = sql`operation not in (${sql.join(freeOperations.map((operation) => sql`${operation}`))})`

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
          await tx.updateTable('runs').set({ state: 'scanning' }).where('id', '=', unfinished.id).execute()
          return { run: toRun({ ...unfinished, state: 'scanning' }), resumed: true }
        }
        const row = await tx
          .insertInto('runs')
          .values({
            id: run.id,
            connector: run.connector,
            object: run.object,
            entity: run.entity,
            recipe: run.recipe,
            trigger: run.trigger,
            state: run.state ?? 'scanning',
            fingerprint: run.fingerprint,
            source: JSON.stringify(run.source),
            started_at: now(),
          })
          .onConflict((conflict) => conflict.doNothing())
          .returningAll()
          .executeTakeFirst()
        return row && { run: toRun(row), resumed: false }
      })
      // Another process has begun the same run since it was looked for.
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
      const finished_at = state === 'finished' || state === 'failed' ? now() : null
      await db.updateTable('runs').set({ state, finished_at }).where('id', '=', id).execute()
    },

    async markScanned(id) {
      await db
        .updateTable('runs')
        // A plan stays a plan: it is scanned like a run and never worked on.
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

    async figures(id) {
      const { rows: lookups } = await sql<{
        unique: number
        duplicates: number
        not_found: number
        open: number
        cached: number
      }>`
        select count(distinct tasks.lookup_key)::int as unique,
          count(duplicate_of)::int as duplicates,
          (count(distinct tasks.lookup_key) filter (where lookups.state = 'answered' and lookups.outcome = 'not_found'))::int as not_found,
          (count(distinct tasks.lookup_key) filter (where lookups.state in ('waiting', 'parked')))::int as open,
          (count(distinct tasks.lookup_key) filter (where lookups.state = 'answered' and not exists (
            select 1 from charge_shares as paid where paid.lookup_key = tasks.lookup_key and paid.run_id = ${id}
              and paid.state in ('settled', 'in_doubt'))))::int as cached
        from tasks left join lookups on lookups.key = tasks.lookup_key
        where tasks.run_id = ${id} and tasks.lookup_key is not null`.execute(db)
      const { rows: money } = await sql<{
        paid: number
        sends: number
        settled: bigint
        in_doubt: bigint
        lost: bigint
        credits: bigint
      }>`
        select (select count(*)::int from charge_shares where run_id = ${id} and state = 'settled' and ${paidOnly}) as paid,
          coalesce(sum(sends), 0)::int as sends,
          coalesce(sum(amount_atomic) filter (where state = 'settled' and currency = 'USD'), 0)::bigint as settled,
          coalesce(sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt') and currency = 'USD'), 0)::bigint as in_doubt,
          coalesce(sum(amount_atomic) filter (where state = 'lost' and currency = 'USD'), 0)::bigint as lost,
          coalesce(sum(amount_atomic) filter (where state = 'settled' and currency = 'credit'), 0)::bigint as credits
        from charges where run_id = ${id} and ${paidOnly}`.execute(db)
      const { rows: refusals } = await sql<{ rule: string; message: string; count: number }>`
        select rule, min(message) as message, count(*)::int as count from refusals
        where run_id = ${id} group by rule order by count desc`.execute(db)
      const requests = await db
        .selectFrom('runs')
        .select(['requests_unpaid', 'requests_limited'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      const [lookup] = lookups
      const [spend] = money
      return {
        lookups: {
          unique: lookup?.unique ?? 0,
          paid: spend?.paid ?? 0,
          cached: lookup?.cached ?? 0,
          notFound: lookup?.not_found ?? 0,
          duplicates: lookup?.duplicates ?? 0,
          open: lookup?.open ?? 0,
        },
        spend: {
          settledAtomic: spend?.settled ?? 0n,
          inDoubtAtomic: spend?.in_doubt ?? 0n,
          lostAtomic: spend?.lost ?? 0n,
          creditsAtomic: spend?.credits ?? 0n,
        },
        requests: {
          sent: (spend?.sends ?? 0) + requests.requests_unpaid,
          rateLimited: requests.requests_limited,
        },
        refusals,
      }
    },

    async spent(id) {
      const { rows } = await sql<{ settled: bigint }>`
        select coalesce(sum(amount_atomic), 0)::bigint as settled from charges
        where run_id = ${id} and state = 'settled' and currency = 'USD'`.execute(db)
      return rows[0]?.settled ?? 0n
    },

    async dropPlanned(id) {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('tasks').where('run_id', '=', id).execute()
        await tx.deleteFrom('runs').where('id', '=', id).where('state', '=', 'planned').execute()
      })
    },
  }
}

function toRun(row: {
  id: string
  connector: string
  object: ObjectKind
  entity: string
  recipe: string
  trigger: string
  state: RunState
  fingerprint: string
  source: Record<string, unknown>
  watermark: string | null
  scanned_at: Date | null
  records: number
  started_at: Date
  finished_at: Date | null
}): Run {
  const { started_at: startedAt, finished_at: finishedAt, scanned_at: scannedAt, ...rest } = row
  return { ...rest, startedAt, finishedAt, scannedAt }
}
