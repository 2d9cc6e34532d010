import type { Connector } from '../../connectors/connector.ts'
import { absentReason } from '../../domain/field-policy/current-record.ts'
import { dueForRefresh } from '../../domain/freshness.ts'
import { slotOf } from '../../domain/planning/step.ts'
import { capOf, capsOf } from '../../domain/planning/prices.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { staleRecords, type StalePlace, type StaleRecord } from '../../store/runs/stale-records.ts'
import type { Context } from '../context/context.ts'

const pageSize = 200

/**
 * Returns the connector as a source of the records whose answers are stale: the oldest answer first, as many as the run's
 * budget pays for. They are looked up by the identity that the ledger read last. Their current values are read again before
 * anything is written, as always.
 */
export function staleOnly(
  { config, database, now }: Pick<Context, 'config' | 'database' | 'now'>,
  connector: Connector,
  recipe: string,
): Connector {
  return {
    ...connector,
    async *scan(entity, { after, limit = Infinity, signal }) {
      const object = connector.entities[entity] as ObjectKind
      const source = { connector: connector.name, entity, recipe }
      const at = now()
      let place = readPlace(after)
      let [leftAtomic, left] = [config.caps.runAtomic, limit]
      while (left > 0 && !signal?.aborted) {
        const page = await staleRecords(database.db, source, {
          at,
          after: place,
          limit: Math.min(pageSize, left),
        })
        const priced = page.map((record) => ({ ...record, priceAtomic: priceOf(record) }))
        const due = dueForRefresh(priced, at, leftAtomic)
        const last = due.at(-1)
        if (!last) return
        place = { answeredAt: last.answeredAt, recordId: last.recordId }
        left -= due.length
        leftAtomic -= due.reduce((sum, { priceAtomic }) => sum + priceAtomic, 0n)
        // The record's present values decide which answers are worth buying again. A record that is gone gets none.
        const current = await connector.read(
          entity,
          due.map(({ recordId }) => recordId),
        )
        yield {
          records: due.map(({ recordId: id, identity }) => {
            const now = current.get(id)
            if (now?.state === 'unreadable') return { id, object, identity: {}, unreadable: now.reason }
            if (now?.state !== 'present') return { id, object, identity, gone: absentReason(now) }
            return { id, object, identity, values: now.values }
          }),
          watermark: JSON.stringify(place),
        }
        if (due.length < page.length || page.length < pageSize) return
      }
    },
  }

  function priceOf({ lookupKey }: StaleRecord): bigint {
    const slot = slotOf(lookupKey)
    return config.prices[slot] ?? capOf(slot, capsOf(config.policy))
  }
}

function readPlace(watermark: string | undefined): StalePlace | undefined {
  if (watermark === undefined) return undefined
  const { answeredAt, recordId } = JSON.parse(watermark) as { answeredAt: string; recordId: string }
  return { answeredAt: new Date(answeredAt), recordId }
}
