import type { Identity } from '../../../domain/record.ts'
import { recordIdentities } from '../../../domain/subjects/record-identities.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import { identifiersOfSubject, type ListRow } from '../../../domain/lists/list-row.ts'
import {
  identityText,
  judgeRows,
  type JudgedRow,
  type MatchedRecord,
} from '../../../domain/lists/verdicts.ts'
import { objectOfList, type ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import type { IndexedRecord } from '../../../store/identities/record-index.ts'
import { indexAges, type IndexAge } from '../../records/index-ages.ts'
import { answersTo } from './answers-to.ts'

export interface JudgedList {
  rows: JudgedRow[]
  /** The index by which records were found. Undefined: there is none. */
  index: IndexAge | undefined
}

export type JudgeContext = Pick<Context, 'recordIndex' | 'suppressions' | 'database' | 'config' | 'now'>

/**
 * Judges the rows of a list against the index of its CRM. Asks neither the service nor the CRM: `live` is what the CRM
 * has said of records just now, also of those that the index leaves out. Without `answers` it is as if no person had answered.
 */
export async function judgeList(
  context: JudgeContext,
  settings: ListSettings,
  rows: readonly ListRow[],
  live: readonly IndexedRecord[] = [],
  { answers = true }: { answers?: boolean } = {},
): Promise<JudgedList> {
  const { recordIndex, suppressions, config } = context
  const { connector, entity } = settings.into
  const ages = await indexAges(context)
  const identities = rows.flatMap((row) => row.identities)
  const found = [...(await recordIndex.find([connector], identities)), ...live].filter(
    (each) => each.entity === entity,
  )
  const records = Map.groupBy(found, identityText)
  const profiles = await recordIndex.profilesOf(connector, entity, [
    ...new Set(found.map(({ recordId }) => recordId)),
  ])
  for (const { kind, value, recordId } of live)
    if (kind === 'profile') profiles.set(recordId, [...(profiles.get(recordId) ?? []), value])
  return {
    rows: judgeRows(rows, {
      recordsWith: (identity) => records.get(identityText(identity)) ?? [],
      profilesOf: ({ recordId }: MatchedRecord) => profiles.get(recordId) ?? [],
      suppressed: await suppressions.match(
        rows.map(({ object, identity }) => identifiersOfSubject(object, identity)),
      ),
      excluded: excludedRows(settings, rows, config.networkHosts),
      requires: settings.requires ?? [],
      answerTo: answers ? await answersTo(context, settings, rows) : undefined,
    }),
    index: ages.find((age) => age.connector === connector && age.entity === entity),
  }
}

/** Returns the rows that the list leaves out, by index. A person is left out with the employer's domain. */
function excludedRows(
  { search, exclude }: ListSettings,
  rows: readonly ListRow[],
  hosts: readonly string[],
): Set<number> {
  const namesOf = (object: ObjectKind, identity: Identity): string[] =>
    recordIdentities({ object, identity }, { hosts }).map(identityText)
  const object = objectOfList(search)
  const excluded = new Set([
    ...(exclude?.domains ?? []).flatMap((domain) => namesOf('company', { domain })),
    ...(exclude?.profiles ?? []).flatMap((profileUrl) => namesOf(object, { profileUrl })),
  ])
  const isExcluded = ({ identity: { profileUrl, domain } }: ListRow): boolean =>
    [
      ...(domain === undefined ? [] : namesOf('company', { domain })),
      ...(profileUrl === undefined ? [] : namesOf(object, { profileUrl })),
    ].some((name) => excluded.has(name))
  return new Set(rows.flatMap((row, index) => (isExcluded(row) ? [index] : [])))
}
