import { recordIdentities } from '../../domain/subjects/record-identities.ts'
import { identifiersOf } from '../../domain/subjects/identifiers.ts'
import type { ListRow } from '../../domain/lists/list-row.ts'
import { identityText, judgeRows, type JudgedRow, type MatchedRecord } from '../../domain/lists/verdicts.ts'
import { objectOfList, type ListSettings } from '../config/lists.ts'
import type { Context } from '../context/context.ts'
import type { IndexedRecord } from '../../store/identities/record-index.ts'
import { indexAges, type IndexAge } from '../records/index-ages.ts'

export interface JudgedList {
  rows: JudgedRow[]
  /** The index by which records were found. Undefined: there is none. */
  index: IndexAge | undefined
}

export type JudgeContext = Pick<Context, 'recordIndex' | 'suppressions' | 'database' | 'config' | 'now'>

/**
 * Judges the rows of a list against the index of its CRM. Asks neither the service nor the CRM: `live` is what the CRM
 * has said of records just now, also of those that the index leaves out.
 */
export async function judgeList(
  context: JudgeContext,
  settings: ListSettings,
  rows: readonly ListRow[],
  live: readonly IndexedRecord[] = [],
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
  const excluded = excludedBy(settings, config.networkHosts)
  return {
    rows: judgeRows(rows, {
      recordsWith: (identity) => records.get(identityText(identity)) ?? [],
      profilesOf: ({ recordId }: MatchedRecord) => profiles.get(recordId) ?? [],
      suppressed: await suppressions.match(rows.map(({ identity }) => identifiersOf(identity))),
      excluded,
      requires: settings.requires ?? [],
    }),
    index: ages.find((age) => age.connector === connector && age.entity === entity),
  }
}

function excludedBy({ search, exclude }: ListSettings, hosts: readonly string[]): Set<string> {
  const object = objectOfList(search)
  const identities = [
    ...(exclude?.domains ?? []).map((domain) => ({ domain })),
    ...(exclude?.profiles ?? []).map((profileUrl) => ({ profileUrl })),
  ].flatMap((identity) => recordIdentities({ object, identity }, { hosts }))
  return new Set(identities.map(identityText))
}
