import { agreedAnswer, answerNames, type RowAnswer } from '../../../domain/lists/answers.ts'
import type { ListRow } from '../../../domain/lists/list-row.ts'
import { createReviews, type ReviewedObject } from '../../../store/lists/reviews.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { entitiesLike } from './entities-like.ts'

/** Returns the object into which the rows of a list would go, with those whose records they may be. */
export function reviewedObject(into: ListSettings['into']): ReviewedObject {
  const { connector, entity } = into
  return { connector, entity, comparable: entitiesLike(into) }
}

/** Reads what people have answered about rows, and returns a function that tells it of each. */
export async function answersTo(
  { database, now }: Pick<Context, 'database' | 'now'>,
  { search, into }: Pick<ListSettings, 'search' | 'into'>,
  rows: readonly ListRow[],
): Promise<(row: ListRow) => RowAnswer | undefined> {
  const names = new Set(rows.flatMap((row) => answerNames(row, search)))
  const found = await createReviews(database.db, reviewedObject(into), { now }).find([...names])
  if (found.size === 0) return () => undefined
  return (row) =>
    agreedAnswer(
      answerNames(row, search).flatMap((name): RowAnswer[] => {
        const review = found.get(name)
        if (!review) return []
        const { answer, recordId, recordEntity, shown } = review
        const record = recordId !== null && recordEntity !== null ? { entity: recordEntity, recordId } : null
        return [{ answer, record, shown }]
      }),
    )
}
