import { sql, type Selectable } from 'kysely'
import type { Database } from '../database/database.ts'
import { unparkStarted } from './run-states.ts'
import type { Tables, OccurrenceCause, OccurrenceState } from '../database/schema.ts'

export interface ScheduleState {
  name: string
  isPaused: boolean
  pausedBy: string | null
  pausedAt: Date | null
  /** Planned times up to here were dealt with. */
  handledUntil: Date
}

export interface NewOccurrence {
  schedule: string | null
  connector: string
  entity: string
  recipe: string | null
  limit: number | null
  refresh: boolean
  cause: OccurrenceCause
  plannedAt: Date
  startBy: Date | null
  stopAt: Date | null
  runId?: string
}

export interface Occurrence extends Omit<NewOccurrence, 'runId'> {
  id: bigint
  state: OccurrenceState
  notBefore: Date
  runId: string | null
  reason: string | null
  changedAt: Date
}

/** Schedules and their turns; see the migration for what each column means. */
export interface ScheduleLedger {
  /** A schedule that is new begins now: nothing planned before it is missed. */
  register(names: readonly string[]): Promise<void>
  /** What no schedule of the config stands behind any more is not begun. */
  dropUnknown(names: readonly string[]): Promise<void>
  states(): Promise<Map<string, ScheduleState>>
  /** False when there is no such schedule. */
  setPaused(name: string, isPaused: boolean, by: string | null): Promise<boolean>
  /**
   * A planned time is dealt with: these turns come of it, and those of an earlier time that nobody began are missed. False
   * when another process was first.
   */
  handle(name: string, plannedAt: Date, turns: readonly NewOccurrence[]): Promise<boolean>
  addOccurrence(turn: NewOccurrence): Promise<bigint>
  get(id: bigint): Promise<Occurrence | undefined>
  /** Turns whose window is over before they began become missed; those under way are stopped, and their runs with them. */
  closeWindows(): Promise<Occurrence[]>
  /** Turns that somebody may take now: due ones, and those whose holder was not heard of any more. */
  takable(): Promise<bigint[]>
  /**
   * Takes a turn, unless somebody has it or a run of its connector and entity is under way: then it waits `retryMs`. What an
   * earlier turn of the schedule left stopped goes on too: the run that was not scanned to its end becomes this turn's.
   */
  claim(
    id: bigint,
    holder: string,
    options: { leaseMs: number; retryMs: number },
  ): Promise<Occurrence | undefined>
  /** False when the turn is not the holder's any more, or its run was stopped. */
  renew(id: bigint, holder: string, leaseMs: number): Promise<boolean>
  setRun(id: bigint, holder: string, runId: string): Promise<void>
  /** What became of a turn in its holder's hands. Nothing happens when it is not the holder's any more. */
  finishOccurrence(
    id: bigint,
    holder: string,
    end: { state: OccurrenceState; reason?: string; notBefore?: Date },
  ): Promise<void>
  /** Of each schedule and entity the last turn that is not waiting to begin. */
  latest(): Promise<(Occurrence & { runState: string | null })[]>
  /** A turn of no schedule that was not handed over yet. */
  openRequest(connector: string, entity: string): Promise<Occurrence | undefined>
}

/** Any number would do; it must only be the same in every process. */
const lockSpace = 7_290_007

export function createScheduleLedger(db: Database, { now }: { now: () => Date }): ScheduleLedger {
  return {
    async register(names) {
      if (names.length === 0) return
      await db
        .insertInto('schedules')
        .values(names.map((name) => ({ name, handled_until: now() })))
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute()
    },

    async dropUnknown(names) {
      await db
        .updateTable('schedule_turns')
        .set({ state: 'missed', reason: 'its schedule is gone from the config', changed_at: now() })
        .where('state', '=', 'due')
        .where('run_id', 'is', null)
        .where('schedule', 'is not', null)
        .where((eb) => (names.length === 0 ? eb.val(true) : eb('schedule', 'not in', [...names])))
        .execute()
    },

    async states() {
      const rows = await db.selectFrom('schedules').selectAll().execute()
      return new Map(
        rows.map((row) => [
          row.name,
          {
            name: row.name,
            isPaused: row.is_paused,
            pausedBy: row.paused_by,
            pausedAt: row.paused_at,
            handledUntil: row.handled_until,
          },
        ]),
      )
    },

    async setPaused(name, isPaused, by) {
      const { numUpdatedRows } = await db
        .updateTable('schedules')
        .set({
          is_paused: isPaused,
          paused_by: isPaused ? by : null,
          paused_at: isPaused ? now() : null,
          // What was planned meanwhile was passed over on purpose.
          ...(isPaused ? {} : { handled_until: now() }),
        })
        .where('name', '=', name)
        .where('is_paused', '!=', isPaused)
        .executeTakeFirst()
      if (numUpdatedRows > 0n) return true
      const known = await db
        .selectFrom('schedules')
        .select('name')
        .where('name', '=', name)
        .executeTakeFirst()
      return known !== undefined
    },

    async handle(name, plannedAt, turns) {
      return db.transaction().execute(async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('schedules')
          .set({ handled_until: plannedAt })
          .where('name', '=', name)
          .where('is_paused', '=', false)
          .where('handled_until', '<', plannedAt)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        await tx
          .updateTable('schedule_turns')
          .set({ state: 'missed', reason: 'it had not begun when the next was due', changed_at: now() })
          .where('schedule', '=', name)
          .where('state', '=', 'due')
          .where('run_id', 'is', null)
          .execute()
        for (const turn of turns) await insertTurn(tx, turn)
        return true
      })
    },

    addOccurrence: (turn) => insertTurn(db, turn),

    async get(id) {
      const row = await db.selectFrom('schedule_turns').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toTurn(row)
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
        // The turn first: who scans looks at it, and takes no state for its own end.
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
        return [...missed, ...stopped].map(toTurn)
      })
    },

    async takable() {
      const at = now()
      const rows = await db
        .selectFrom('schedule_turns')
        .select('id')
        .where((eb) =>
          eb.or([
            eb.and([eb('state', '=', 'due'), eb('not_before', '<=', at)]),
            eb.and([eb('state', '=', 'scanning'), eb('lease_until', '<=', at)]),
          ]),
        )
        .orderBy('planned_at')
        .limit(100)
        .execute()
      return rows.map(({ id }) => id)
    },

    async claim(id, holder, { leaseMs, retryMs }) {
      const at = now()
      return db.transaction().execute(async (tx) => {
        const turn = await tx.selectFrom('schedule_turns').selectAll().where('id', '=', id).executeTakeFirst()
        if (!turn) return undefined
        const place = `${turn.connector}/${turn.entity}`
        await sql`select pg_advisory_xact_lock(${lockSpace}, hashtext(${place}))`.execute(tx)
        const { rows: busy } = await sql<{ id: bigint }>`
          select other.id from schedule_turns as other left join runs on runs.id = other.run_id
          where other.id <> ${id} and other.connector = ${turn.connector} and other.entity = ${turn.entity}
            and (other.state = 'scanning' or other.state = 'handed_over' and runs.state in ('scanning', 'working'))
          limit 1`.execute(tx)
        const open = tx
          .updateTable('schedule_turns')
          .where('id', '=', id)
          .where((eb) =>
            eb.or([eb('run_id', 'is not', null), eb('start_by', 'is', null), eb('start_by', '>=', at)]),
          )
          .where((eb) => eb.or([eb('stop_at', 'is', null), eb('stop_at', '>', at)]))
          .where((eb) =>
            eb.or([
              eb.and([eb('state', '=', 'due'), eb('not_before', '<=', at)]),
              eb.and([eb('state', '=', 'scanning'), eb('lease_until', '<=', at)]),
            ]),
          )
        if (busy.length > 0) {
          await open
            .set({
              not_before: new Date(at.getTime() + retryMs),
              reason: 'waits for the run before it',
              changed_at: at,
            })
            .execute()
          return undefined
        }
        const taken = await open
          .set({
            state: 'scanning',
            holder,
            lease_until: new Date(at.getTime() + leaseMs),
            reason: null,
            changed_at: at,
          })
          .returningAll()
          .executeTakeFirst()
        return taken && goOnWithRest(tx, toTurn(taken), at)
      })
    },

    async renew(id, holder, leaseMs) {
      const { numUpdatedRows } = await db
        .updateTable('schedule_turns')
        .set({ lease_until: new Date(now().getTime() + leaseMs) })
        .where('id', '=', id)
        .where('holder', '=', holder)
        .where('state', '=', 'scanning')
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('runs')
                .select('runs.id')
                .whereRef('runs.id', '=', 'schedule_turns.run_id')
                .where('runs.state', '=', 'stopped'),
            ),
          ),
        )
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async setRun(id, holder, runId) {
      await db
        .updateTable('schedule_turns')
        .set({ run_id: runId })
        .where('id', '=', id)
        .where('holder', '=', holder)
        .execute()
    },

    async finishOccurrence(id, holder, { state, reason, notBefore }) {
      await db
        .updateTable('schedule_turns')
        .set({
          state,
          reason: reason ?? null,
          holder: null,
          lease_until: null,
          changed_at: now(),
          ...(notBefore ? { not_before: notBefore } : {}),
        })
        .where('id', '=', id)
        .where('holder', '=', holder)
        .where('state', '=', 'scanning')
        .execute()
    },

    async latest() {
      const { rows } = await sql<Selectable<Tables['schedule_turns']> & { run_state: string | null }>`
        select distinct on (schedule, entity) turns.*, runs.state as run_state
        from schedule_turns as turns left join runs on runs.id = turns.run_id
        where schedule is not null and turns.state <> 'due'
        order by schedule, entity, planned_at desc`.execute(db)
      return rows.map((row) => ({ ...toTurn(row), runState: row.run_state }))
    },

    async openRequest(connector, entity) {
      const row = await db
        .selectFrom('schedule_turns')
        .selectAll()
        .where('schedule', 'is', null)
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .where('state', 'in', ['due', 'scanning'])
        .executeTakeFirst()
      return row && toTurn(row)
    },
  }

  async function insertTurn(tx: Database, turn: NewOccurrence): Promise<bigint> {
    const { id } = await tx
      .insertInto('schedule_turns')
      .values({
        schedule: turn.schedule,
        connector: turn.connector,
        entity: turn.entity,
        recipe: turn.recipe,
        job: JSON.stringify({ limit: turn.limit, refresh: turn.refresh }),
        cause: turn.cause,
        planned_at: turn.plannedAt,
        start_by: turn.startBy,
        stop_at: turn.stopAt,
        state: 'due',
        not_before: now(),
        run_id: turn.runId ?? null,
        changed_at: now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  }
}

/**
 * What an earlier window cut off. Scanned runs go back to work, under this turn's window; of those whose scan was cut off
 * the oldest becomes this turn's: it reads on to the end of the source, so nothing is left for another.
 */
async function goOnWithRest(tx: Database, turn: Occurrence, at: Date): Promise<Occurrence> {
  if (turn.schedule === null) return turn
  const rest = await tx
    .selectFrom('schedule_turns as earlier')
    .innerJoin('runs', 'runs.id', 'earlier.run_id')
    .select(['earlier.id', 'earlier.run_id', 'runs.scanned_at'])
    .where('schedule', '=', turn.schedule)
    .where('earlier.entity', '=', turn.entity)
    .where('earlier.id', '!=', turn.id)
    .where('earlier.state', 'in', ['stopped', 'failed'])
    .where('runs.state', '=', 'stopped')
    .orderBy('earlier.planned_at')
    .execute()
  const scanned = rest.filter(({ scanned_at }) => scanned_at !== null)
  if (scanned.length > 0) {
    await tx
      .updateTable('schedule_turns')
      .set({ state: 'handed_over', stop_at: turn.stopAt, reason: 'goes on', changed_at: at })
      .where(
        'id',
        'in',
        scanned.map(({ id }) => id),
      )
      .execute()
    await tx
      .updateTable('runs')
      .set({ state: 'working' })
      .where(
        'id',
        'in',
        scanned.flatMap(({ run_id: run }) => (run === null ? [] : [run])),
      )
      .where('state', '=', 'stopped')
      .execute()
  }
  await unparkStarted(tx, at)
  const cutOff = rest.find(({ scanned_at }) => scanned_at === null)
  if (!cutOff || turn.runId !== null) return turn
  await tx.updateTable('schedule_turns').set({ run_id: cutOff.run_id }).where('id', '=', turn.id).execute()
  return { ...turn, runId: cutOff.run_id }
}

function toTurn(row: Selectable<Tables['schedule_turns']>): Occurrence {
  return {
    id: row.id,
    schedule: row.schedule,
    connector: row.connector,
    entity: row.entity,
    recipe: row.recipe,
    limit: (row.job['limit'] as number | null | undefined) ?? null,
    refresh: row.job['refresh'] === true,
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
