import type { Database } from '../database/database.ts'

/** The limits that pacers have learned. Redis cannot hold them: it may be flushed, and the embedded one ends with its process. */
export interface PacerStateStore {
  /** Returns what was last saved under this name; undefined when it is too old to be of use. */
  load(name: string): Promise<string | undefined>
  save(name: string, learned: string): Promise<void>
  /** Returns what `load` returns of each, by name. */
  list(): Promise<{ name: string; learned: string; savedAt: Date }[]>
}

/** Plans and limits change, so an older state is learned again. */
const maxAgeMs = 14 * 86_400_000

export function createPacerStateStore(db: Database, { now }: { now: () => Date }): PacerStateStore {
  const current = () => db.selectFrom('paces').where('saved_at', '>', new Date(now().getTime() - maxAgeMs))

  return {
    async load(name) {
      const row = await current().select('learned').where('name', '=', name).executeTakeFirst()
      return row?.learned
    },

    list: () => current().select(['name', 'learned', 'saved_at as savedAt']).orderBy('name').execute(),

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
