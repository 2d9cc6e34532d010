import type { Association, Connector, CurrentRecord, WriteResult } from '../../../connectors/connector.ts'
import { creating } from '../../../domain/mapping/creating.ts'
import type { SourceRecord } from '../../../domain/record.ts'
import { rowsOfLists } from '../../../domain/words.ts'
import type { PlannedRow, PlannedRows } from '../../../store/lists/planned-rows.ts'

/** The rows of a plan that are enriched before they become records. */
export interface RowsSource {
  planId: string
  planned: Pick<PlannedRows, 'after'>
  /** Rows at this place and behind it are not enriched. */
  before: number
  /** Returns why nothing is bought for some of these rows any more, by place. Default: it is bought for all. */
  left?: ((rows: readonly PlannedRow[]) => Promise<ReadonlyMap<number, string>>) | undefined
}

const pageSize = 500

/**
 * Returns the rows of a list's plan as a source of records; a record's id is the place of its row in the plan. A field to which a new
 * record of `target` could hold nothing is closed, so that nothing is bought for it.
 *
 * Nothing is written into the CRM: values stay in the tasks of the run, as those of a file do, until the record is made with them.
 */
export function rowsConnector(
  target: Connector,
  entity: string,
  { planId, planned, before, left }: RowsSource,
): Connector {
  const object = target.entities[entity]
  const mapping = target.mapping?.entities[entity]
  return {
    name: rowsOfLists,
    policiesOf: target.name,
    capabilities: {
      keepsValues: false,
      runsInBackground: false,
      scansChanges: false,
      filters: false,
      marksOwnWrites: false,
      tellsQuota: false,
      makesRecords: false,
      takesNotes: false,
    },
    entities: object === undefined ? {} : { [entity]: object },
    mapping: target.mapping && mapping && { ...target.mapping, entities: { [entity]: creating(mapping) } },
    check: (entities) => target.check(entities),
    describe: (name) => target.describe(name),
    ensureFields: (name, options) => target.ensureFields(name, options),

    async *scan(_entity, { after, signal }) {
      for (let place = after === undefined ? 0 : Number(after); !signal?.aborted;) {
        const page = await planned.after(planId, place, pageSize)
        const rows = page.filter(({ ordinal }) => ordinal < before)
        const last = rows.at(-1)
        if (!last || object === undefined) return
        place = last.ordinal
        const reasons = await left?.(rows)
        yield {
          records: rows.map((row) => recordOf(row, object, reasons?.get(row.ordinal))),
          watermark: String(place),
        }
        if (rows.length < page.length) return
      }
    },

    async read(_entity, ids) {
      return new Map(ids.map((id): [string, CurrentRecord] => [id, { state: 'present', values: {} }]))
    },

    async write(_entity, patches) {
      return patches.map(({ id, patch }): WriteResult => ({
        id,
        status: Object.keys(patch).length > 0 ? 'written' : 'unchanged',
      }))
    },

    async associations(_entity, _toEntity, ids) {
      return new Map(ids.map((id): [string, Association[]] => [id, []]))
    },

    async quota() {
      return null
    },

    async close() {},
  }
}

function recordOf(
  { ordinal, identity, values }: PlannedRow,
  object: SourceRecord['object'],
  gone: string | undefined,
): SourceRecord {
  return { id: String(ordinal), object, identity, values, ...(gone === undefined ? {} : { gone }) }
}
