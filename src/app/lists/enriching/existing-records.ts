import type { Connector } from '../../../connectors/connector.ts'
import { absentReason } from '../../../domain/field-policy/current-record.ts'
import type { SourceRecord } from '../../../domain/record.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import type { ExistingRow } from '../../../store/lists/bought/existing-rows.ts'

/** Returns rows whose record exists, behind a place, in their order. */
export type ExistingPages = (after: number, limit: number) => Promise<ExistingRow[]>

const pageSize = 100

/**
 * Returns the connector as a source of the records that rows of a list were found to be. Each is looked up by its row's identity, so that
 * what was bought for the row before its record was found is in the ledger already. Its values are read now, and written under the
 * field policy, as in every run.
 */
export function existingRecords(connector: Connector, pages: ExistingPages): Connector {
  return {
    ...connector,
    async *scan(entity, { after, signal }) {
      const object = connector.entities[entity] as ObjectKind
      for (let place = after === undefined ? 0 : Number(after); !signal?.aborted;) {
        const rows = await pages(place, pageSize)
        const last = rows.at(-1)
        if (!last) return
        place = last.ordinal
        const current = await connector.read(
          entity,
          rows.map(({ recordId }) => recordId),
        )
        yield {
          records: rows.map(({ recordId: id, identity }): SourceRecord => {
            const found = current.get(id)
            if (found?.state === 'unreadable') return { id, object, identity: {}, unreadable: found.reason }
            if (found?.state !== 'present')
              return { id, object, identity, gone: absentReason(found ?? { state: 'gone' }) }
            return { id, object, identity, values: found.values }
          }),
          watermark: String(place),
        }
      }
    },
  }
}
