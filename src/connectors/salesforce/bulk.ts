import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import type { z } from 'zod'
import { RetriableError } from '../../domain/errors.ts'
import { RefusedRequestError } from './api-error.ts'
import { jobSchema } from './answers.ts'
import type { SalesforceClient } from './client.ts'
import type { Outcome, Update } from './collections.ts'
import type { Body } from './fit.ts'
import { parseBulkError } from './save-error.ts'

export interface BulkOptions {
  /** How long a job may take before it is aborted. Default 30 minutes. */
  timeoutMs?: number
  /** The first pause between two looks at a job; it grows to `maxPollMs`. Default 1 second, to 30. */
  pollMs?: number
  maxPollMs?: number
  /** Characters of one job's CSV. Salesforce takes 100 MB before encoding. Default 40 million. */
  maxCharacters?: number
}

/** What clears a field in the CSV of a job; an empty cell leaves it as it is. A text cannot say it. */
export const bulkNull = '#N/A'

const abortedRetryMs = 15 * 60_000

type JobState = z.infer<typeof jobSchema>['state']

/** Whether the CSV of a job can carry these values. */
export function fitsBulk(body: Body): boolean {
  return !Object.values(body).includes(bulkNull)
}

/**
 * Updates records through Bulk API 2.0, one job after another. Ids must not repeat. Of a job that fails or takes too long
 * the rows that were carried out are answered as such, the others as `later`.
 */
export async function updateByBulk(
  client: SalesforceClient,
  sobject: string,
  updates: readonly Update[],
  options: BulkOptions & { now: () => number; wait?: (ms: number) => Promise<void> },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const { csv, count } of toCsv(updates, options.maxCharacters ?? 40_000_000)) {
    const part = updates.slice(outcomes.length, outcomes.length + count)
    outcomes.push(...(await runJob(client, sobject, csv, part, options)))
  }
  return outcomes
}

async function runJob(
  client: SalesforceClient,
  sobject: string,
  csv: string,
  updates: readonly Update[],
  options: BulkOptions & { now: () => number; wait?: (ms: number) => Promise<void> },
): Promise<Outcome[]> {
  const { id } = await client.call(jobSchema, {
    method: 'POST',
    path: '/jobs/ingest',
    json: { object: sobject, operation: 'update', contentType: 'CSV', lineEnding: 'LF' },
  })
  const path = `/jobs/ingest/${id}`
  await client.callForText({ method: 'PUT', path: `${path}/batches`, csv })
  // From here on the job runs, whatever becomes of us: what is not known of it is answered as `later`.
  await client.call(jobSchema, { method: 'PATCH', path, json: { state: 'UploadComplete' } })
  const state = await waitForEnd(client, path, options)
  const outcomes = await readResults(client, path)
  const rest: Outcome = {
    kind: 'later',
    afterMs: state === undefined ? abortedRetryMs : 60_000,
    reason:
      state === 'JobComplete'
        ? 'the bulk job has no result for the record'
        : 'the bulk job did not get so far',
  }
  return updates.map((update) => outcomes.get(update.id) ?? rest)
}

/** The state in which the job ended; undefined when it had to be aborted. */
async function waitForEnd(
  client: SalesforceClient,
  path: string,
  options: BulkOptions & { now: () => number; wait?: (ms: number) => Promise<void> },
): Promise<JobState | undefined> {
  const { timeoutMs = 30 * 60_000, pollMs = 1_000, maxPollMs = 30_000, now } = options
  const wait = options.wait ?? ((ms: number) => delay(ms))
  const giveUpAtMs = now() + timeoutMs
  for (let pauseMs = pollMs; now() < giveUpAtMs; pauseMs = Math.min(maxPollMs, pauseMs * 1.5)) {
    await wait(pauseMs)
    try {
      const { state } = await client.call(jobSchema, { path })
      if (state === 'JobComplete' || state === 'Failed' || state === 'Aborted') return state
    } catch (error) {
      // The job goes on whether we may look or not: a spent quota or a short outage is no reason to leave it.
      if (!(error instanceof RetriableError)) throw error
    }
  }
  try {
    await client.call(jobSchema, { method: 'PATCH', path, json: { state: 'Aborted' }, isRepeatable: true })
    return undefined
  } catch (error) {
    // It ended between the last look and now.
    if (error instanceof RefusedRequestError && error.errorCode === 'INVALIDJOBSTATE') return 'JobComplete'
    throw error
  }
}

/** By the record's id. Rows that were never worked on are not among them. */
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
 * CSV texts of at most `maxCharacters`, each with how many records stand in it. Every row has every column: Salesforce
 * reads a row by the header alone.
 */
export function toCsv(updates: readonly Update[], maxCharacters: number): { csv: string; count: number }[] {
  const columns = [...new Set(updates.flatMap(({ body }) => Object.keys(body)))].sort()
  const header = stringify([['Id', ...columns]])
  const jobs: { csv: string; count: number }[] = []
  for (const { id, body } of updates) {
    const line = stringify([[id, ...columns.map((name) => cell(body, name))]])
    const last = jobs.at(-1)
    if (last && last.csv.length + line.length <= maxCharacters) {
      last.csv += line
      last.count += 1
    } else jobs.push({ csv: header + line, count: 1 })
  }
  return jobs
}

function cell(body: Body, name: string): string {
  if (!(name in body)) return ''
  const value = body[name]
  return value === null || value === undefined ? bulkNull : String(value)
}
