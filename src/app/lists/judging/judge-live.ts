import type { Connector } from '../../../connectors/connector.ts'
import type { RecordMaker } from '../../../connectors/creating.ts'
import type { ListRow } from '../../../domain/lists/list-row.ts'
import { recordIdentities } from '../../../domain/subjects/record-identities.ts'
import type { IndexedRecord } from '../../../store/identities/record-index.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { JudgedRow, OtherRows } from '../../../domain/lists/verdicts.ts'
import { entitiesLike } from './entities-like.ts'
import { judgeList, type JudgeContext } from './judge-list.ts'

const rowsAtOnce = 100
const away: ReadonlySet<string> = new Set(['gone', 'merged', 'converted'])
/** Verdicts under which no record was found for certain. */
const open: ReadonlySet<string> = new Set(['new', 'possible'])

/**
 * Judges rows against the CRM as it is now. Records that the index names are read, because they may be gone or may have changed; rows
 * without one are looked for in the CRM, because the index may be behind. The index learns both.
 */
export async function judgeLive<R extends ListRow & { ordinal?: number }>(
  context: JudgeContext,
  connector: Connector & { maker: RecordMaker },
  settings: ListSettings,
  rows: readonly R[],
  others?: OtherRows,
): Promise<JudgedRow<R>[]> {
  const { recordIndex, config } = context
  const entities = entitiesLike(settings.into)
  const named = await judgeList(context, settings, rows, { others })
  const matched = Map.groupBy(
    named.flatMap(({ records }) => records),
    ({ entity }) => entity,
  )
  for (const [entity, records] of matched) {
    const ids = [...new Set(records.map(({ recordId }) => recordId))]
    for (let at = 0; at < ids.length; at += rowsAtOnce) {
      const read = await connector.read(entity, ids.slice(at, at + rowsAtOnce))
      const gone = [...read].flatMap(([id, { state }]) => (away.has(state) ? [id] : []))
      await recordIndex.drop(connector.name, entity, gone)
    }
  }
  const judged = matched.size === 0 ? named : await judgeList(context, settings, rows, { others })
  const unknown = judged.filter(({ verdict }) => open.has(verdict)).map(({ row }) => row)
  const live: IndexedRecord[] = []
  for (let at = 0; at < unknown.length; at += rowsAtOnce) {
    const identities = unknown.slice(at, at + rowsAtOnce).flatMap((row) => row.identities)
    for (const entity of entities) {
      const found = await connector.maker.find(entity, identities)
      await recordIndex.keep(connector.name, entity, found)
      for (const record of found)
        for (const each of recordIdentities(record, { hosts: config.networkHosts }))
          live.push({ ...each, connector: connector.name, entity, recordId: record.id })
    }
  }
  return live.length === 0 ? judged : judgeList(context, settings, rows, { live, others })
}
