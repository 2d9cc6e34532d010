import { sql, type Selectable } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import type { OccurrenceCause, OccurrenceState } from '../database/tables/states.ts'

export interface NewOccurrence {
  schedule: string | null
  connector: string
  entity: string
  recipe: string | null
  limit: number | null
  refresh: boolean
  /** The plan whose records alone are read. Absent: all that its source has. */
  plan?: string | undefined
  /** The list that is run in place of a sync, with the most that it may spend in USD. */
  list?: OccurrenceList | undefined
  /** The pipeline that is run in place of a sync, with the most that it may spend in USD. */
  signals?: OccurrenceSignals | undefined
  /** The champions that are looked up again in place of a sync, with the most that it may spend in USD. */
  champions?: OccurrenceChampions | undefined
  /** The report that is sent in place of a sync. */
  report?: OccurrenceReport | undefined
  cause: OccurrenceCause
  plannedAt: Date
  startBy: Date | null
  stopAt: Date | null
  runId?: string | undefined
}

export interface OccurrenceList {
  name: string
  budgetUsd: string
  reachableOnly: boolean
}

interface OccurrenceSignals {
  pipeline: string
  budgetUsd: string
}

interface OccurrenceChampions {
  watch: string
  budgetUsd: string
}

export interface OccurrenceReport {
  pipeline: string
  /** `7d` */
  since: string
}

export interface Occurrence extends Omit<NewOccurrence, 'runId'> {
  id: bigint
  state: OccurrenceState
  notBefore: Date
  runId: string | null
  reason: string | null
  changedAt: Date
}

export interface OccurrenceLedger {
  /**
   * Adds an occurrence that a person asked for now. Returns false, and adds none, while an occurrence of the schedule and
   * entity waits for its run or is scanning: two requests at the same moment are one.
   */
  addNow(occurrence: NewOccurrence & { schedule: string }): Promise<boolean>
  get(id: bigint): Promise<Occurrence | undefined>
  /**
   * Ends the occurrences whose window is over: those that were not started become missed, and those that are running are
   * stopped together with their runs. Returns both.
   */
  closeWindows(): Promise<Occurrence[]>
  /** Returns the last started or missed occurrence of each schedule and entity. */
  latest(): Promise<(Occurrence & { runState: string | null })[]>
}

export function createOccurrenceLedger(db: Database, { now }: { now: () => Date }): OccurrenceLedger {
  return {
    async addNow(occurrence) {
      const { schedule, entity } = occurrence
      return db.transaction().execute(async (tx) => {
        // The row of the schedule serialises requests. The check needs a statement of its own, to see what was waited for.
        await tx.selectFrom('schedules').select('name').where('name', '=', schedule).forUpdate().execute()
        const open = await tx
          .selectFrom('schedule_turns')
          .select('id')
          .where('schedule', '=', schedule)
          .where('entity', '=', entity)
          .where('state', 'in', ['due', 'scanning'])
          .executeTakeFirst()
        if (open) return false
        await insertOccurrence(tx, occurrence, now)
        return true
      })
    },

    async get(id) {
      const row = await db.selectFrom('schedule_turns').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toOccurrence(row)
    },

    async closeWindows() {
      const at = now()
      return db.transaction().execute(async (tx) => {
        const missed = await tx
          .updateTable('schedule_turns')
          .set({ state: 'missed', reason: 'it could not begin within its window', changed_at: at })
          .where('state', '=', 'due')
          .where('run_id', 'is', null)
          .where((eb) => eb.or([eb('start_by', '<', at), eb('stop_at', '<=', at)]))
          .returningAll()
          .execute()
        // The occurrence is stopped before its run: the process that scans reads its state, and does not finish it as its own.
        const { rows: stopped } = await sql<Selectable<Tables['schedule_turns']>>`
          update schedule_turns set state = 'stopped', reason = 'its window ended', changed_at = ${at}
          where stop_at <= ${at} and run_id is not null and (state in ('due', 'scanning') or state = 'handed_over' and exists (
            select 1 from runs where runs.id = run_id and runs.state in ('scanning', 'working', 'parked')))
          returning *`.execute(tx)
        const runs = stopped.flatMap(({ run_id: run }) => (run === null ? [] : [run]))
        if (runs.length > 0) {
          await tx
            .updateTable('runs')
            .set({ state: 'stopped' })
            .where('id', 'in', runs)
            .where('state', 'in', ['scanning', 'working', 'parked'])
            .execute()
        }
        return [...missed, ...stopped].map(toOccurrence)
      })
    },

    async latest() {
      const { rows } = await sql<Selectable<Tables['schedule_turns']> & { run_state: string | null }>`
        select distinct on (schedule, entity) turns.*, runs.state as run_state
        from schedule_turns as turns left join runs on runs.id = turns.run_id
        where schedule is not null and turns.state <> 'due'
        order by schedule, entity, planned_at desc`.execute(db)
      return rows.map((row) => ({ ...toOccurrence(row), runState: row.run_state }))
    },
  }
}

export async function insertOccurrence(
  db: Database,
  occurrence: NewOccurrence,
  now: () => Date,
): Promise<bigint> {
  const { id } = await db
    .insertInto('schedule_turns')
    .values({
      schedule: occurrence.schedule,
      connector: occurrence.connector,
      entity: occurrence.entity,
      recipe: occurrence.recipe,
      job: JSON.stringify({
        limit: occurrence.limit,
        refresh: occurrence.refresh,
        plan: occurrence.plan,
        list: occurrence.list,
        signals: occurrence.signals,
        champions: occurrence.champions,
        report: occurrence.report,
      }),
      cause: occurrence.cause,
      planned_at: occurrence.plannedAt,
      start_by: occurrence.startBy,
      stop_at: occurrence.stopAt,
      state: 'due',
      not_before: now(),
      run_id: occurrence.runId ?? null,
      changed_at: now(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export function toOccurrence(row: Selectable<Tables['schedule_turns']>): Occurrence {
  return {
    id: row.id,
    schedule: row.schedule,
    connector: row.connector,
    entity: row.entity,
    recipe: row.recipe,
    limit: (row.job['limit'] as number | null | undefined) ?? null,
    refresh: row.job['refresh'] === true,
    plan: (row.job['plan'] as string | undefined) ?? undefined,
    list: row.job['list'] as OccurrenceList | undefined,
    signals: row.job['signals'] as OccurrenceSignals | undefined,
    champions: row.job['champions'] as OccurrenceChampions | undefined,
    report: row.job['report'] as OccurrenceReport | undefined,
    cause: row.cause,
    plannedAt: row.planned_at,
    startBy: row.start_by,
    stopAt: row.stop_at,
    state: row.state,
    notBefore: row.not_before,
    runId: row.run_id,
    reason: row.reason,
    changedAt: row.changed_at,
  }
}
