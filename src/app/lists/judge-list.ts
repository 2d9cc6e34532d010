import { recordIdentities } from '../../domain/subjects/record-identities.ts'
import { identifiersOf } from '../../domain/subjects/identifiers.ts'
import type { ListRow } from '../../domain/lists/list-row.ts'
import { identityText, judgeRows, type JudgedRow, type MatchedRecord } from '../../domain/lists/verdicts.ts'
import { objectOfList, type ListSettings } from '../config/lists.ts'
import type { Context } from '../context/context.ts'
import { indexAges, type IndexAge } from '../records/index-ages.ts'

export interface JudgedList {
  rows: JudgedRow[]
  /** The index by which records were found. Undefined: there is none. */
  index: IndexAge | undefined
}

/** Judges the rows of a list against the index of its CRM. Asks neither the service nor the CRM. */
export async function judgeList(
  context: Pick<Context, 'recordIndex' | 'suppressions' | 'database' | 'config' | 'now'>,
  settings: ListSettings,
  rows: readonly ListRow[],
): Promise<JudgedList> {
  const { recordIndex, suppressions, config } = context
  const { connector, entity } = settings.into
  const ages = await indexAges(context)
  const identities = rows.flatMap((row) => row.identities)
  const found = (await recordIndex.find([connector], identities)).filter((each) => each.entity === entity)
  const records = Map.groupBy(found, identityText)
  const profiles = await recordIndex.profilesOf(connector, entity, [
    ...new Set(found.map(({ recordId }) => recordId)),
  ])
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
