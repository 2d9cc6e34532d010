import { identifiersOfSubject, type ListRow } from '../../../domain/lists/list-row.ts'
import {
  identityText,
  judgeRows,
  type JudgedRow,
  type MatchedRecord,
  type OtherRows,
} from '../../../domain/lists/verdicts.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import type { IndexedRecord } from '../../../store/identities/record-index.ts'
import { indexAges, type IndexAge } from '../../records/index-ages.ts'
import { answersTo } from './answers-to.ts'
import { excludedRows } from './excluded-rows.ts'

/** Facts beside the index by which rows are judged. */
export interface AlsoKnown {
  /** Facts that the CRM has told just now, also of records that the index leaves out. */
  live?: readonly IndexedRecord[] | undefined
  /** The other rows of the list, where only a part of it is judged. */
  others?: OtherRows | undefined
  /** False: as if no person had answered. */
  answers?: boolean | undefined
}

export type JudgeContext = Pick<Context, 'recordIndex' | 'suppressions' | 'database' | 'config' | 'now'>

/** Judges rows of a list against the index of its CRM. Asks neither the service nor the CRM. */
export async function judgeList<R extends ListRow & { ordinal?: number }>(
  context: JudgeContext,
  settings: ListSettings,
  rows: readonly R[],
  { live = [], others, answers = true }: AlsoKnown = {},
): Promise<JudgedRow<R>[]> {
  const { recordIndex, suppressions, config } = context
  const { connector, entity } = settings.into
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
  return judgeRows(rows, {
    recordsWith: (identity) => records.get(identityText(identity)) ?? [],
    profilesOf: ({ recordId }: MatchedRecord) => profiles.get(recordId) ?? [],
    suppressed: await suppressions.match(
      rows.map(({ object, identity }) => identifiersOfSubject(object, identity)),
    ),
    excluded: excludedRows(settings, rows, config.networkHosts),
    requires: settings.requires ?? [],
    others,
    answerTo: answers ? await answersTo(context, settings, rows) : undefined,
  })
}

/** Returns the state of the index by which the rows of a list are judged. Undefined: there is none. */
export async function indexOfList(
  context: Pick<Context, 'database' | 'now'>,
  { into }: Pick<ListSettings, 'into'>,
): Promise<IndexAge | undefined> {
  const ages = await indexAges(context)
  return ages.find(({ connector, entity }) => connector === into.connector && entity === into.entity)
}
