import { identifiersOfSubject, type ListRow } from '../../../domain/lists/list-row.ts'
import {
  identityText,
  judgeRows,
  type JudgedRow,
  type MatchedRecord,
  type OtherRows,
} from '../../../domain/lists/verdicts.ts'
import type { Config } from '../../config/config.ts'
import { objectOfList, type ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import type { IndexedRecord } from '../../../store/identities/record-index.ts'
import { indexAges, type IndexAge } from '../../records/index-ages.ts'
import { answersTo } from './answers-to.ts'
import { entitiesLike } from './entities-like.ts'
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
  const comparable = entitiesLike(settings.into)
  const found = [...(await recordIndex.find([connector], identities)), ...live].filter((each) =>
    comparable.includes(each.entity),
  )
  const records = Map.groupBy(found, identityText)
  const profiles = new Map<string, string[]>()
  for (const [of, group] of Map.groupBy(found, (each) => each.entity)) {
    const ids = [...new Set(group.map(({ recordId }) => recordId))]
    for (const [id, values] of await recordIndex.profilesOf(connector, of, ids))
      profiles.set(recordText({ entity: of, recordId: id }), values)
  }
  for (const each of live)
    if (each.kind === 'profile')
      profiles.set(recordText(each), [...(profiles.get(recordText(each)) ?? []), each.value])
  return judgeRows(rows, {
    entity,
    // A lead may stay beside its contact: a record of the wanted object goes before those of others.
    recordsWith(identity) {
      const all = records.get(identityText(identity)) ?? []
      const own = all.filter((each) => each.entity === entity)
      return own.length > 0 ? own : all
    },
    profilesOf: (record: MatchedRecord) => profiles.get(recordText(record)) ?? [],
    suppressed: await suppressions.match(
      rows.map(({ object, identity }) => identifiersOfSubject(object, identity)),
    ),
    excluded: excludedRows(settings, rows, config.networkHosts),
    requires: requiredNow(config, settings),
    others,
    answerTo: answers ? await answersTo(context, settings, rows) : undefined,
  })
}

/**
 * Returns the state of the index by which the rows of a list are judged. It is complete when that of every object is with which rows are
 * compared. Undefined: there is none.
 */
export async function indexOfList(
  context: Pick<Context, 'database' | 'now'>,
  { into }: Pick<ListSettings, 'into'>,
): Promise<IndexAge | undefined> {
  const ages = await indexAges(context)
  const ageOf = (entity: string): IndexAge | undefined =>
    ages.find((age) => age.connector === into.connector && age.entity === entity)
  const own = ageOf(into.entity)
  return (
    own && { ...own, isComplete: entitiesLike(into).every((entity) => ageOf(entity)?.isComplete === true) }
  )
}

function recordText({ entity, recordId }: MatchedRecord): string {
  return `${entity}|${recordId}`
}

/** Returns the fields that a row must have now: those that are bought for it come later. */
function requiredNow(
  { recipes }: Pick<Config, 'recipes'>,
  settings: Pick<ListSettings, 'search' | 'people' | 'recipe' | 'requires'>,
): readonly string[] {
  const { recipe, requires = [] } = settings
  if (recipe === undefined) return requires
  const { fields } = recipes(objectOfList(settings), recipe)
  return requires.filter((field) => !fields.includes(field))
}
