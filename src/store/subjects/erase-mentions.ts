import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { dropped } from '../../domain/lists/dropped-rows.ts'
import { identifiersOfRow, objectOfRows } from '../../domain/lists/list-row.ts'
import { operationRow, personalOperations } from '../../domain/operations.ts'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import { scrub, type ScrubOptions } from '../../domain/subjects/traces.ts'
import type { Operation } from '../../domain/words.ts'
import { rowForms } from '../database/row-forms.ts'
import type { Tables } from '../database/tables/schema.ts'
import { packedName } from '../packed/packed-json.ts'
import { containing } from './find-subject.ts'
import { needlesOf } from './needles.ts'

/**
 * Erases the subject from answers about others that name it: a company's people, a profile's neighbours, the rows of searches. The
 * place of a row stays, because the size of a page says whether it is the last one. `domains` are a company's own.
 */
export async function eraseMentions(
  tx: Transaction<Tables>,
  identifiers: readonly Identifier[],
  domains: readonly string[],
): Promise<number> {
  const needles = [...needlesOf(identifiers), ...domains]
  const forms = rowForms(tx)
  let erased = 0
  async function erase({ key, operation, answer }: Named): Promise<void> {
    const { value, isChanged } = scrub(answer, identifiers, inRows(operation, domains))
    if (!isChanged) return
    await tx
      .updateTable('lookups')
      .set({ answer: JSON.stringify(forms.answer(key, value as Record<string, unknown>).stored) })
      .where('key', '=', key)
      .execute()
    erased += 1
  }
  for (const needle of needles) {
    const { rows } = await sql<Named>`
      select key, operation, answer from lookups
      where operation = any(${[...personalOperations]}) and answer::text ilike ${containing(needle)}`.execute(
      tx,
    )
    for (const row of rows) await erase(row)
  }
  for await (const row of packedAnswers(tx)) {
    const text = JSON.stringify(row.answer).toLowerCase()
    if (needles.some((needle) => text.includes(needle.toLowerCase()))) await erase(row)
  }
  return erased
}

interface Named {
  key: LookupKey
  operation: Operation
  answer: Record<string, unknown>
}

const packedAtOnce = 200

/** Yields the answers in which the database finds no text, because they are packed; all of them are read once. */
async function* packedAnswers(tx: Transaction<Tables>): AsyncGenerator<Named> {
  for (let after = ''; ;) {
    const { rows } = await sql<Named>`
      select key, operation, answer from lookups where key > ${after} and operation = any(${[...personalOperations]})
        and answer ? ${packedName} order by key limit ${packedAtOnce}`.execute(tx)
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < packedAtOnce) return
    after = last.key
  }
}

/** Elsewhere a company's domain is a text like any other: people have it in their address. */
function inRows(operation: Operation, domains: readonly string[]): ScrubOptions {
  if (operationRow(operation).kind !== 'search') return {}
  const isCompany = objectOfRows(operation) === 'company'
  return {
    inPlace: dropped('forgotten'),
    isAbout: (row) =>
      isCompany &&
      domains.length > 0 &&
      identifiersOfRow('company', row).some(
        ({ kind, value }) => kind === 'domain' && domains.includes(value),
      ),
  }
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
