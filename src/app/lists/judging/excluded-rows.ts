import { identityText } from '../../../domain/lists/verdicts.ts'
import type { ListRow } from '../../../domain/lists/list-row.ts'
import type { Identity } from '../../../domain/record.ts'
import { recordIdentities } from '../../../domain/subjects/record-identities.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import { objectOfList, type ListSettings } from '../../config/lists.ts'

/** Returns the rows that the list leaves out, by index. A person is left out with the employer's domain. */
export function excludedRows(
  { search, people, exclude }: Pick<ListSettings, 'search' | 'people' | 'exclude'>,
  rows: readonly ListRow[],
  hosts: readonly string[],
): Set<number> {
  const namesOf = (object: ObjectKind, identity: Identity): string[] =>
    recordIdentities({ object, identity }, { hosts }).map(identityText)
  const object = objectOfList({ search, people })
  const excluded = new Set([
    ...(exclude?.domains ?? []).flatMap((domain) => namesOf('company', { domain })),
    ...(exclude?.profiles ?? []).flatMap((profileUrl) => namesOf(object, { profileUrl })),
  ])
  if (excluded.size === 0) return new Set()
  const isExcluded = ({ identity: { profileUrl, domain } }: ListRow): boolean =>
    [
      ...(domain === undefined ? [] : namesOf('company', { domain })),
      ...(profileUrl === undefined ? [] : namesOf(object, { profileUrl })),
    ].some((name) => excluded.has(name))
  return new Set(rows.flatMap((row, index) => (isExcluded(row) ? [index] : [])))
}
