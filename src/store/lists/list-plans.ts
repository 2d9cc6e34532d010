import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** The plans that runs of a list carry out: one at a time. */
export interface ListPlans {
  /** Returns the plan that was begun for a list and has not ended, by its id. */
  unfinished(list: string): Promise<string | undefined>
  /**
   * Makes a plan the one that is carried out next, and returns its id. Where another process has one under way, returns that, and
   * deletes the one given: no list has two.
   */
  claim(list: string, planId: string): Promise<string>
  /** Gives a plan up of which nothing was begun. */
  release(planId: string): Promise<void>
}

/**
 * Crash windows of a run of a list, between the plan and its first record:
 * - Killed before the claim: the plan is saved and nobody's. The next run makes another one.
 * - Killed after it: the plan is found again by its claim, and carried out. After its run was opened it is found by that.
 */
export function createListPlans(db: Database): ListPlans {
  return {
    unfinished: (list) => unfinished(db, list),

    async claim(list, planId) {
      return db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtext(${`list_plans ${list}`}))`.execute(tx)
        const other = await unfinished(tx, list)
        if (other !== undefined && other !== planId) {
          await tx.deleteFrom('plans').where('id', '=', planId).execute()
          return other
        }
        await sql`update plans set job = job || '{"isClaimed": true}' where id = ${planId}`.execute(tx)
        return planId
      })
    },

    async release(planId) {
      await sql`update plans set job = job - 'isClaimed' where id = ${planId} and run_id is null`.execute(db)
    },
  }
}

async function unfinished(db: Database, list: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select plans.id from plans left join runs on runs.id = plans.run_id
    where plans.kind = 'list' and plans.job ->> 'list' = ${list}
      and case when plans.run_id is null then plans.job -> 'isClaimed' = 'true' else runs.state <> 'finished' end
    order by plans.made_at, plans.id limit 1`.execute(db)
  return rows[0]?.id
}
