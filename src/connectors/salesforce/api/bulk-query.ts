import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { RetriableError } from '../../../domain/errors.ts'
import { jobSchema, type Row } from './answers.ts'
import type { SalesforceClient } from './client.ts'

export interface BulkQueryOptions {
  /** The longest that the job may take. Default 30 minutes. */
  timeoutMs?: number
  /** Rows of one answer. Default 10,000. */
  maxRecords?: number
  now: () => number
  wait?: ((ms: number) => Promise<void>) | undefined
  signal?: AbortSignal | undefined
}

const firstPollMs = 1_000
const maxPollMs = 30_000

/**
 * Carries out a query as a job of Bulk API 2.0 and yields its rows in their order, one answer at a time. A blank cell is
 * null; the other values are texts. Throws RetriableError when the job fails or takes too long.
 *
 * The order of the query makes it resumable, at a price: Salesforce does not divide a sorted query among its servers.
 *
 * Crash window: the job of a process that dies goes on in Salesforce, changes nothing there and is deleted after a week. The
 * caller has stored the rows that it was given, and starts another job behind them.
 */
export async function* queryByBulk(
  client: SalesforceClient,
  query: string,
  options: BulkQueryOptions,
): AsyncGenerator<Row[]> {
  const { id } = await client.call(jobSchema, {
    method: 'POST',
    path: '/jobs/query',
    json: { operation: 'query', query },
  })
  const path = `/jobs/query/${id}`
  let isEnded = false
  try {
    await waitForEnd(client, path, options)
    isEnded = true
    let locator: string | undefined
    do {
      options.signal?.throwIfAborted()
      const { text, headers } = await client.callForText({
        path: `${path}/results`,
        query: {
          maxRecords: String(options.maxRecords ?? 10_000),
          ...(locator === undefined ? {} : { locator }),
        },
      })
      const rows = parse(text, { columns: true, skip_empty_lines: true }) as Record<string, string>[]
      yield rows.map(toRow)
      locator = headers['sforce-locator']
    } while (locator !== undefined && locator !== 'null' && locator !== '')
  } finally {
    // Only an unfinished job is ended: one more request for a finished one would save nothing.
    if (!isEnded) await abort(client, path).catch(() => {})
  }
}

async function waitForEnd(
  client: SalesforceClient,
  path: string,
  { timeoutMs = 30 * 60_000, now, wait = (ms) => delay(ms), signal }: BulkQueryOptions,
): Promise<void> {
  const giveUpAtMs = now() + timeoutMs
  for (let pauseMs = firstPollMs; now() < giveUpAtMs; pauseMs = Math.min(maxPollMs, pauseMs * 1.5)) {
    await wait(pauseMs)
    signal?.throwIfAborted()
    const { state } = await client.call(jobSchema, { path })
    if (state === 'JobComplete') return
    if (state === 'Failed' || state === 'Aborted') throw failed(`ended as ${state}`)
  }
  throw failed('took too long')
}

async function abort(client: SalesforceClient, path: string): Promise<void> {
  await client.call(jobSchema, { method: 'PATCH', path, json: { state: 'Aborted' }, isRepeatable: true })
}

function failed(how: string): RetriableError {
  return new RetriableError('salesforce_bulk_query', `a bulk query ${how}`, { retryAfterMs: 60_000 })
}

/** Returns a row as the REST API would: blanks are null, and a parent's fields are in an object of their own. */
function toRow(cells: Record<string, string>): Row {
  const row: Record<string, unknown> = {}
  for (const [name, cell] of Object.entries(cells)) {
    const value = cell === '' ? null : cell
    const [parent = name, field] = name.split('.')
    if (field === undefined) row[name] = value
    else row[parent] = { ...(row[parent] as object | undefined), [field]: value }
  }
  return row as Row
}
