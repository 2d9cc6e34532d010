import { createHash } from 'node:crypto'
import { answerNames } from '../../../domain/lists/answers.ts'
import type { ListRow } from '../../../domain/lists/list-row.ts'

/** Returns the key by which people name a row: the same row has the same one in each fetch, and a name cannot be read from it. */
export function rowKey(row: ListRow, search: string): string {
  const [best = ''] = answerNames(row, search)
  return createHash('sha256').update(best).digest('hex').slice(0, 12)
}
