import type { Database } from '../database/database.ts'

/** What pacers have learned of their limits: Redis may be flushed, and the embedded one ends with its process. */
export interface PaceBook {
  /** What was saved last under this name; undefined when that is too long ago to mean anything. */
  load(name: string): Promise<string | undefined>
  save(name: string, learned: string): Promise<void>
}

/** Plans and limits change: what is older than that is learned anew. */
const keptForMs = 14 * 86_400_000

export function createPaceBook(db: Database, { now }: { now: () => Date }): PaceBook {
  return {
    async load(name) {
      const row = await db
        .selectFrom('paces')
        .select('learned')
        .where('name', '=', name)
        .where('saved_at', '>', new Date(now().getTime() - keptForMs))
        .executeTakeFirst()
      return row?.learned
    },

    async save(name, learned) {
      const row = { name, learned, saved_at: now() }
      await db
        .insertInto('paces')
        .values(row)
        .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
        .execute()
    },
  }
}
