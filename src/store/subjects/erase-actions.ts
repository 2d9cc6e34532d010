import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { scrub } from '../../domain/subjects/traces.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import { containing } from './find-subject.ts'
import { needlesOf } from './needles.ts'

interface ActionTexts {
  id: string
  key: LookupKey | null
  body: unknown
  answer: unknown
  problem: string | null
}

/**
 * Erases the subject from the journal of actions: from what was ordered and answered, and from the copies of the order in its
 * lookup and charge. None of them is ever sent again: an action leaves with the body of the command that orders it.
 */
export async function eraseFromActions(
  tx: Transaction<Tables>,
  identifiers: readonly Identifier[],
): Promise<number> {
  let erased = 0
  for (const needle of needlesOf(identifiers)) {
    const pattern = containing(needle)
    const { rows } = await sql<ActionTexts>`
      select id, lookup_key as key, body, answer, problem from service_actions
      where body::text ilike ${pattern} or answer::text ilike ${pattern} or problem ilike ${pattern}`.execute(
      tx,
    )
    for (const { id, key, ...texts } of rows) {
      const { value, isChanged } = scrub(texts, identifiers)
      if (!isChanged) continue
      const { body, answer, problem } = value as typeof texts
      await sql`
        update service_actions set body = ${JSON.stringify(body)}::jsonb, problem = ${problem},
          answer = ${answer === null ? null : JSON.stringify(answer)}::jsonb where id = ${id}`.execute(tx)
      await sql`update lookups set request = ${JSON.stringify(body)}::jsonb where key = ${key}`.execute(tx)
      await sql`update charges set body = '' where lookup_key = ${key} and body ilike ${pattern}`.execute(tx)
      erased += 1
    }
  }
  return erased
}

/**
 * Erases up to `limit` answers of actions that ended before a time, and returns how many. The ids of what was made stay: without
 * them the same order would make it once more, and a reading would take it for that of another action.
 */
export async function eraseOldActionAnswers(tx: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ id: string; answer: unknown }>`
    select id, answer from service_actions where state = 'done' and answer is not null and ended_at < ${before}
      and not (jsonb_typeof(answer) = 'object' and answer ? 'erased')
    order by id limit ${limit} for update skip locked`.execute(tx)
  for (const { id, answer } of rows)
    await sql`
      update service_actions set answer = ${JSON.stringify({ ...idsIn(answer), erased: true })}::jsonb where id = ${id}`.execute(
      tx,
    )
  return rows.length
}

/** Returns the ids of an object and of those in it, and nothing else. */
function idsIn(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
      if (typeof each === 'string' || typeof each === 'number')
        return name.endsWith('_id') ? [[name, each]] : []
      const below = idsIn(each)
      return Object.keys(below).length > 0 ? [[name, below]] : []
    }),
  )
}
