import { createHash } from 'node:crypto'
import { readDelivery, type ReadDelivery } from './read-delivery.ts'

/** One entry of the service's log, as a delivery would have said it. */
export interface LogEntry {
  id: string
  detectedAt: Date | null
  /** The digest of the delivery that is made of it, the same for every reading. */
  digest: string
  body: string
  read: ReadDelivery
}

type Row = Readonly<Record<string, unknown>>

const dateFields = ['detected_at', 'triggered_at', 'occurred_at', 'created_at']
/** Fields in which an entry may hold the delivery that was sent of it. */
const nestedFields = ['payload', 'body', 'delivery', 'detection']

/**
 * Returns an entry of a log as the delivery of its monitor. The documentation shows neither, so an entry is read as a delivery is: its
 * `signals` and `companies`, those of a delivery inside it, else the entry itself as one signal. Pure.
 */
export function readLogEntry(
  row: Row,
  { idName, monitorId, networkName }: { idName: string; monitorId: string; networkName: string },
): LogEntry {
  const id = String(row[idName])
  const nested = nestedFields.map((name) => row[name]).find(hasLists)
  const source = hasLists(row) ? row : (nested ?? { signals: [withoutId(row, idName)] })
  const date = dateFields.map((name) => row[name]).find((value) => typeof value === 'string')
  const detectedAt = new Date(typeof date === 'string' ? date : '')
  const isDated = !Number.isNaN(detectedAt.getTime())
  const given = {
    monitor: { monitor_id: monitorId },
    ...(isDated && { triggered_at: detectedAt.toISOString() }),
    is_test: row['is_test'] === true || row['is_validation'] === true,
    ...('signals' in source && { signals: source['signals'] }),
    ...('companies' in source && { companies: source['companies'] }),
  }
  return {
    id,
    detectedAt: isDated ? detectedAt : null,
    digest: createHash('sha256')
      .update(JSON.stringify(['log', monitorId, id]))
      .digest('hex'),
    body: JSON.stringify(given),
    read: readDelivery(given, networkName),
  }
}

/** The id of an entry is not that of a signal. */
function withoutId(row: Row, idName: string): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== idName && name !== 'id'))
}

function hasLists(value: unknown): value is Row {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['signals', 'companies'].some((name) => Array.isArray((value as Row)[name]))
  )
}
