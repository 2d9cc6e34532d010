import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { personalOperations } from '../../domain/operations.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { scrub } from '../../domain/subjects/traces.ts'
import type { Tables } from '../database/schema.ts'
import { containing } from './find-subject.ts'
import { needlesOf } from './needles.ts'

/** Erases the subject from answers about others that name it: a company's people, a profile's neighbours. */
export async function eraseMentions(
  tx: Transaction<Tables>,
  identifiers: readonly Identifier[],
): Promise<number> {
  let erased = 0
  for (const needle of needlesOf(identifiers)) {
    const { rows } = await sql<{ key: LookupKey; answer: Record<string, unknown> }>`
      select key, answer from lookups
      where operation = any(${[...personalOperations]}) and answer::text ilike ${containing(needle)}`.execute(
      tx,
    )
    for (const { key, answer } of rows) {
      const { value, isChanged } = scrub(answer, identifiers)
      if (!isChanged) continue
      await tx
        .updateTable('lookups')
        .set({ answer: JSON.stringify(value) })
        .where('key', '=', key)
        .execute()
      erased += 1
    }
  }
  return erased
}

/** Erases the subject from the conditions of scans: a run or a plan may have been narrowed to it. */
export async function eraseConditions(
  tx: Transaction<Tables>,
  identifiers: readonly Identifier[],
): Promise<number> {
  let erased = 0
  for (const needle of needlesOf(identifiers)) {
    const pattern = containing(needle)
    for (const [table, column] of [
      ['runs', 'source'],
      ['plans', 'job'],
    ] as const) {
      const { rows } = await sql<{ id: string; value: unknown }>`
        select id, ${sql.ref(column)} as value from ${sql.table(table)} where ${sql.ref(column)}::text ilike ${pattern}`.execute(
        tx,
      )
      for (const { id, value } of rows) {
        const { value: clean, isChanged } = scrub(value, identifiers)
        if (!isChanged) continue
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${JSON.stringify(clean)}::jsonb where id = ${id}`.execute(
          tx,
        )
        erased += 1
      }
    }
    await sql`delete from watermarks where filter ilike ${pattern}`.execute(tx)
  }
  return erased
}
