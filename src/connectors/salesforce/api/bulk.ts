import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import type { z } from 'zod'
import { RetriableError } from '../../../domain/errors.ts'
import { RefusedRequestError } from './api-error.ts'
import { jobSchema } from './answers.ts'
import type { SalesforceClient } from './client.ts'
import { parseBulkError } from './bulk-error.ts'
import type { Body, Outcome, Update } from './collections.ts'

export interface BulkOptions {
  /** The longest that a job may take before it is aborted. Default 30 minutes. */
  timeoutMs?: number
  /** The first pause between two status requests; it grows to `maxPollMs`. Default 1 second, to 30. */
  pollMs?: number
  maxPollMs?: number
  /** Characters of one job's CSV. Salesforce takes 100 MB before encoding. Default 40 million. */
  maxCharacters?: number
}

export interface BulkJob<U extends Update = Update> {
  csv: string
  updates: U[]
}

/**
 * The value that clears a field in the CSV of a job; an empty cell leaves the field unchanged. No text can have this
 * value.
 */
const bulkNull = '#N/A'

const abortedRetryMs = 15 * 60_000

type JobState = z.infer<typeof jobSchema>['state']
export type JobOptions = BulkOptions & { now: () => number; wait?: (ms: number) => Promise<void> }

/** Returns whether the CSV of a job can represent these values. */
export function fitsBulk(body: Body): boolean {
  return !Object.values(body).includes(bulkNull)
}

/**
 * Updates records through one job of Bulk API 2.0, and returns one outcome for each record, in order. Ids must not
 * repeat. For a job that fails or takes too long, it returns what was carried out.
 */
export async function updateByBulk(
  client: SalesforceClient,
  sobject: string,
  { csv, updates }: BulkJob,
  options: JobOptions,
): Promise<Outcome[]> {
  const { id } = await client.call(jobSchema, {
    method: 'POST',
    path: '/jobs/ingest',
    json: { object: sobject, operation: 'update', contentType: 'CSV', lineEnding: 'LF' },
  })
  const path = `/jobs/ingest/${id}`
  await start(client, path, csv)
  const { state, outcomes } = await waitForEnd(client, path, options)
  const rest: Outcome =
    state === 'Failed'
      ? { kind: 'unsent' }
      : {
          kind: 'deferred',
          afterMs: abortedRetryMs,
          reason: 'the bulk job did not get to the record in time',
        }
  return updates.map((update) => outcomes.get(update.id) ?? rest)
}

async function start(client: SalesforceClient, path: string, csv: string): Promise<void> {
  try {
    await unlessDone(client.callForText({ method: 'PUT', path: `${path}/batches`, csv }))
    await unlessDone(
      client.call(jobSchema, {
        method: 'PATCH',
        path,
        json: { state: 'UploadComplete' },
        isRepeatable: true,
      }),
    )
  } catch (error) {
    // An unstarted job would count against the org's open jobs for a week.
    await abort(client, path).catch(() => {})
    throw error
  }
}

/** A request that was repeated after a lost answer finds the job one state further. */
async function unlessDone(request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    if (!(error instanceof RefusedRequestError) || error.errorCode !== 'INVALIDJOBSTATE') throw error
  }
}

/**
 * Polls the job until it has ended and its results are read, or aborts it when its time is up. The job continues
 * whether we may poll or not: a spent quota or an outage is no reason to abandon it.
 */
async function waitForEnd(
  client: SalesforceClient,
  path: string,
  options: JobOptions,
): Promise<{ state: JobState; outcomes: Map<string, Outcome> }> {
  const { timeoutMs = 30 * 60_000, pollMs = 1_000, maxPollMs = 30_000, now } = options
  const wait = options.wait ?? ((ms: number) => delay(ms))
  const giveUpAtMs = now() + timeoutMs
  for (let pauseMs = pollMs; now() < giveUpAtMs; pauseMs = Math.min(maxPollMs, pauseMs * 1.5)) {
    await wait(pauseMs)
    try {
      const { state } = await client.call(jobSchema, { path })
      if (state === 'JobComplete' || state === 'Failed' || state === 'Aborted')
        return { state, outcomes: await readResults(client, path) }
    } catch (error) {
      if (!(error instanceof RetriableError)) throw error
    }
  }
  try {
    await unlessDone(abort(client, path))
    return { state: 'Aborted', outcomes: await readResults(client, path) }
  } catch (error) {
    if (!(error instanceof RetriableError)) throw error
    // The records that it has written are recognised when the same patches are sent again.
    return { state: 'Aborted', outcomes: new Map() }
  }
}

async function abort(client: SalesforceClient, path: string): Promise<void> {
  await client.call(jobSchema, { method: 'PATCH', path, json: { state: 'Aborted' }, isRepeatable: true })
}

/** Returns outcomes by record id. Unprocessed rows are not among them. */
async function readResults(client: SalesforceClient, path: string): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  const rowsOf = async (name: string) =>
    parse((await client.callForText({ path: `${path}/${name}` })).text, {
      columns: true,
      skip_empty_lines: true,
    }) as Record<string, string>[]
  for (const row of await rowsOf('successfulResults'))
    if (row['sf__Id'] !== undefined) outcomes.set(row['sf__Id'], { kind: 'done' })
  for (const row of await rowsOf('failedResults')) {
    const id = row['Id'] || row['sf__Id']
    if (id !== undefined) outcomes.set(id, { kind: 'failed', error: parseBulkError(row['sf__Error'] ?? '') })
  }
  return outcomes
}

/**
 * Splits the updates into jobs whose CSV has at most `maxCharacters`. Every row has every column: Salesforce reads a
 * row by the header alone.
 */
export function toJobs<U extends Update>(
  updates: readonly U[],
  { maxCharacters = 40_000_000 }: BulkOptions = {},
): BulkJob<U>[] {
  const columns = [...new Set(updates.flatMap(({ body }) => Object.keys(body)))].sort()
  const header = stringify([['Id', ...columns]])
  const jobs: BulkJob<U>[] = []
  for (const update of updates) {
    const line = stringify([[update.id, ...columns.map((name) => cell(update.body, name))]])
    const last = jobs.at(-1)
    if (last && last.csv.length + line.length <= maxCharacters) {
      last.csv += line
      last.updates.push(update)
    } else jobs.push({ csv: header + line, updates: [update] })
  }
  return jobs
}

function cell(body: Body, name: string): string {
  if (!(name in body)) return ''
  const value = body[name]
  return value === null || value === undefined ? bulkNull : String(value)
}
