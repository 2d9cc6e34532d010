import { sql, type RawBuilder } from 'kysely'
import { fieldsOfPatch } from '../packed/patch-fields.ts'
import { rowsOfLists } from '../../domain/words.ts'

/**
 * The fields of a written task that we filled or changed, one a row (`field`), in a query of `tasks`. Nothing is written into a
 * file: an answer's value for a field that the row had already stands in a column beside it, and fills nothing. A CRM's
 * values are decided by when they are written. `ofFile` tells whether the task is a row of a file.
 */
export function filledFields(ofFile: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`lateral (
    select key as field from ${fieldsOfPatch(sql`tasks.patch`)} as named (key)
    where not (${ofFile} and coalesce(tasks.closed ->> key, '') = 'filled')
  ) as filled_field`
}

/** True for a run that read a file, or rows that are not yet records, in a query of `runs`. */
export const isOfFile = sql<boolean>`(runs.connector in ('csv', ${sql.lit(rowsOfLists)}))`
