import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { readableText } from '../database/parameters.ts'
import { restoredSwitch } from '../restored/restore-state.ts'

/** The kill switch. Each charge reads it in its own transaction, so that it applies to all processes at once. */
export interface SpendSwitch {
  /** `isRestored`: by a restore, which reading the chain ends and no person. */
  isStopped(): Promise<{ reason: string; since: Date; isRestored?: true } | undefined>
  stop(reason: string): Promise<void>
  resume(): Promise<void>
}

const spendSwitchName = 'spending_stopped'

/** True when spending is stopped, by a person or because the ledger was restored; for use inside a statement. */
export const isStopped = sql<boolean>`exists (select 1 from switches where name in (${spendSwitchName}, ${restoredSwitch}) and is_on)`

export function createSpendSwitch(db: Database, options: { now: () => Date }): SpendSwitch {
  async function set(isOn: boolean, reason: string | null): Promise<void> {
    const state = { is_on: isOn, reason, changed_at: options.now() }
    await db
      .insertInto('switches')
      .values({ name: spendSwitchName, ...state })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(state))
      .execute()
  }

  return {
    async isStopped() {
      const row = await db
        .selectFrom('switches')
        .selectAll()
        .where('name', 'in', [spendSwitchName, restoredSwitch])
        .where('is_on', '=', true)
        // The order of a person first: only a person can lift it.
        .orderBy('name', 'desc')
        .executeTakeFirst()
      if (!row) return undefined
      const stopped = { reason: row.reason ?? '', since: row.changed_at }
      return row.name === restoredSwitch ? { ...stopped, isRestored: true as const } : stopped
    },
    // No text may prevent a stop, and Postgres stores no U+0000.
    stop: (reason) => set(true, readableText(reason)),
    resume: () => set(false, null),
  }
}
