import type { Connector } from '../../../connectors/connector.ts'
import { identifiersOfSubject } from '../../../domain/lists/list-row.ts'
import { absentReason } from '../../../domain/field-policy/current-record.ts'
import type { Identity, SourceRecord } from '../../../domain/record.ts'
import type { ObjectKind } from '../../../domain/words.ts'
import type { SuppressionLedger } from '../../../store/subjects/suppressions.ts'
import type { ExistingRow } from '../../../store/lists/bought/existing-rows.ts'

/** Returns rows whose record exists, behind a place, in their order. */
export type ExistingPages = (after: number, limit: number) => Promise<ExistingRow[]>

const pageSize = 100

/**
 * Returns the connector as a source of the records that rows of a list were found to be. Each is looked up by its row's identity, so that
 * what was bought for the row before its record was found is in the ledger already. Its values are read now, and written under the
 * field policy, as in every run.
 */
export function existingRecords(
  connector: Connector,
  suppressions: Pick<SuppressionLedger, 'match'>,
  pages: ExistingPages,
): Connector {
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
        const own = rows.map(({ recordId }): Identity => {
          const found = current.get(recordId)
          return (found?.state === 'present' && found.identity) || {}
        })
        const suppressed = await suppressions.match(own.map((each) => identifiersOfSubject(object, each)))
        yield {
          records: rows.map(({ recordId: id, identity: given }, at): SourceRecord => {
            const found = current.get(id)
            // A record may name a suppressed subject in a value that its row lacks, such as the e-mail.
            const identity = suppressed.has(at) ? (own[at] ?? given) : given
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
