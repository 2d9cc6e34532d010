import type { Database } from '../database/database.ts'
import { createOccurrenceLeases, type OccurrenceLeases } from './occurrence-leases.ts'
import {
  createOccurrenceLedger,
  insertOccurrence,
  type NewOccurrence,
  type OccurrenceLedger,
} from './schedule-occurrences.ts'

export interface ScheduleState {
  name: string
  isPaused: boolean
  pausedBy: string | null
  pausedAt: Date | null
  /** All planned times up to this one have been handled. */
  handledUntil: Date
}

/** Schedules and their occurrences; the migration explains each column. */
export interface ScheduleLedger extends OccurrenceLedger, OccurrenceLeases {
  /** Adds the schedules that are new. A new one begins now, so no earlier planned time counts as missed. */
  register(names: readonly string[]): Promise<void>
  /** Marks the due occurrences of all other schedules as missed, because those have left the config. */
  dropUnknown(names: readonly string[]): Promise<void>
  states(): Promise<Map<string, ScheduleState>>
  /** Returns false when there is no such schedule. */
  setPaused(name: string, isPaused: boolean, by: string | null): Promise<boolean>
  /**
   * Handles a planned time: adds its occurrences, and marks earlier ones that were not started as missed. Returns false when
   * another process has handled it.
   */
  handle(name: string, plannedAt: Date, occurrences: readonly NewOccurrence[]): Promise<boolean>
}

export function createScheduleLedger(db: Database, options: { now: () => Date }): ScheduleLedger {
  const { now } = options
  return {
    ...createOccurrenceLedger(db, options),
    ...createOccurrenceLeases(db, options),

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
        .set({ state: 'missed', reason: 'its schedule was removed from the config', changed_at: now() })
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
          // Times that were planned during the pause are skipped on purpose.
          handled_until: isPaused ? undefined : now(),
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

    async handle(name, plannedAt, occurrences) {
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
          .set({ state: 'missed', reason: 'it had not started when the next one was due', changed_at: now() })
          .where('schedule', '=', name)
          .where('state', '=', 'due')
          .where('run_id', 'is', null)
          .execute()
        for (const occurrence of occurrences) await insertOccurrence(tx, occurrence, now)
        return true
      })
    },
  }
}
