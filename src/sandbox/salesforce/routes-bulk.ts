import { Hono, type Context } from 'hono'
import { z } from 'zod'
import {
  DELIMITERS,
  LINE_ENDS,
  bulkError,
  csvValues,
  headerOf,
  readRows,
  safeRows,
  type Job,
  type JobInfo,
} from './bulk-job.ts'
import { formatCsv } from './bulk/csv.ts'
import { SalesforceError, resourceNotFound } from './errors.ts'
import type { SalesforceEnv } from './gate.ts'
import { toLongId } from './ids.ts'
import { parseBody } from './routes-records.ts'
import { versionOf } from './routes-query.ts'
import { parseSoql } from './soql-parse.ts'
import { objectOf, readColumn, runSoql } from './soql-run.ts'
import { formatDateTime } from './store.ts'
import { updateRecords, type WriteDeps } from './write.ts'

/** A bulk update is processed in chunks of this many rows, each a transaction of its own. */
const CHUNK = 200

/** Bulk API 2.0: update jobs from CSV and query jobs to CSV. A job makes progress while it is polled. */
export function bulkRoutes(
  deps: WriteDeps,
  apiUserId: string,
  now: () => number,
  pageRows: number,
): Hono<SalesforceEnv> {
  const { store, faults } = deps
  const app = new Hono<SalesforceEnv>()
  const jobs = { ingest: new Map<string, Job>(), query: new Map<string, Job>() }
  let nextJob = 1

  app.post('/jobs/ingest', async (c) => {
    const given = parseBody(ingestSchema, await c.req.text())
    return c.json(
      describe(c, open('ingest', { ...given, object: objectOf(store, given.object).name, query: undefined })),
    )
  })

  app.put('/jobs/ingest/:id/batches', async (c) => {
    const job = jobOf('ingest', c.req.param('id'))
    if (job.state !== 'Open' || job.csv !== undefined)
      throw new SalesforceError(
        400,
        'INVALIDJOBSTATE',
        'Data can only be uploaded once, to a job that is Open',
      )
    if (!c.req.header('content-type')?.startsWith('text/csv'))
      throw new SalesforceError(415, 'UNSUPPORTED_MEDIA_TYPE', 'Content-Type has to be text/csv')
    job.csv = await c.req.text()
    return c.body(null, 201)
  })

  app.patch('/jobs/ingest/:id', async (c) => {
    const job = jobOf('ingest', c.req.param('id'))
    const { state } = parseBody(
      z.object({ state: z.enum(['UploadComplete', 'Aborted']) }),
      await c.req.text(),
    )
    if (job.state !== 'Open' && !(state === 'Aborted' && job.state !== 'JobComplete'))
      throw new SalesforceError(400, 'INVALIDJOBSTATE', `Job cannot go from ${job.state} to ${state}`)
    job.state = state
    if (state === 'Aborted') job.unprocessed = safeRows(job).slice(1)
    return c.json(describe(c, job))
  })

  app.get('/jobs/ingest/:id', async (c) => {
    const job = jobOf('ingest', c.req.param('id'))
    if (advance(job)) await ingest(job)
    return c.json(describe(c, job))
  })

  app.delete('/jobs/ingest/:id', (c) => {
    jobs.ingest.delete(jobOf('ingest', c.req.param('id')).info.id)
    return c.body(null, 204)
  })

  for (const [path, rowsOf] of [
    ['successfulResults', (job: Job) => [['sf__Id', 'sf__Created', ...headerOf(job)], ...job.successful]],
    ['failedResults', (job: Job) => [['sf__Id', 'sf__Error', ...headerOf(job)], ...job.failures]],
    ['unprocessedrecords', (job: Job) => [headerOf(job), ...job.unprocessed]],
  ] as const)
    app.get(`/jobs/ingest/:id/${path}`, (c) => {
      const job = jobOf('ingest', c.req.param('id'))
      if (!['JobComplete', 'Aborted', 'Failed'].includes(job.state))
        throw new SalesforceError(400, 'INVALIDJOBSTATE', 'Results are there once the job has ended')
      return csvAnswer(c, job, rowsOf(job))
    })

  app.post('/jobs/query', async (c) => {
    const given = parseBody(querySchema, await c.req.text())
    const soql = parseSoql(given.query)
    if (soql.isCount || soql.offset > 0)
      throw new SalesforceError(400, 'API_ERROR', 'COUNT and OFFSET are not supported in bulk queries')
    const job = open('query', { ...given, object: runSoql(store, { ...soql, limit: 0 }, false).type })
    job.state = 'UploadComplete'
    return c.json(describe(c, job))
  })

  app.get('/jobs/query/:id', (c) => {
    const job = jobOf('query', c.req.param('id'))
    if (advance(job)) select(job)
    return c.json(describe(c, job))
  })

  app.patch('/jobs/query/:id', async (c) => {
    const job = jobOf('query', c.req.param('id'))
    parseBody(z.object({ state: z.literal('Aborted') }), await c.req.text())
    job.state = 'Aborted'
    return c.json(describe(c, job))
  })

  app.delete('/jobs/query/:id', (c) => {
    jobs.query.delete(jobOf('query', c.req.param('id')).info.id)
    return c.body(null, 204)
  })

  app.get('/jobs/query/:id/results', (c) => {
    const job = jobOf('query', c.req.param('id'))
    if (job.state !== 'JobComplete')
      throw new SalesforceError(400, 'INVALIDJOBSTATE', 'The job is not complete')
    const from = c.req.query('locator') === undefined ? 0 : Number(atob(c.req.query('locator') ?? ''))
    if (!Number.isInteger(from))
      throw new SalesforceError(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator')
    const size = Math.min(pageRows, Number(c.req.query('maxRecords') ?? pageRows))
    const [header = [], ...rows] = job.rows
    const page = rows.slice(from, from + size)
    const end = from + page.length
    c.header('Sforce-Locator', end < rows.length ? btoa(String(end)) : 'null')
    c.header('Sforce-NumberOfRecords', String(page.length))
    return csvAnswer(c, job, [header, ...page])
  })

  function open(kind: 'ingest' | 'query', given: Omit<JobInfo, 'id' | 'createdAtMs'>): Job {
    const id = toLongId(`750Wx${String(nextJob++).padStart(10, '0')}`)
    const job: Job = {
      info: { ...given, id, createdAtMs: now() },
      state: 'Open',
      polls: 0,
      errorMessage: undefined,
      processed: 0,
      failed: 0,
      rows: [],
      csv: undefined,
      successful: [],
      failures: [],
      unprocessed: [],
    }
    jobs[kind].set(id, job)
    return job
  }

  function jobOf(kind: 'ingest' | 'query', id: string): Job {
    const job = jobs[kind].get(toLongId(id))
    if (!job) throw resourceNotFound()
    return job
  }

  /** Returns true on the poll at which the job's work is due. */
  function advance(job: Job): boolean {
    if (job.state !== 'UploadComplete' && job.state !== 'InProgress') return false
    job.state = 'InProgress'
    job.polls += 1
    return job.polls > faults.bulkPolls
  }

  async function ingest(job: Job): Promise<void> {
    const problem = readRows(job)
    if (problem) {
      job.state = 'Failed'
      job.errorMessage = problem
      return
    }
    // Set before the first wait: two simultaneous polls must not run the job twice.
    job.state = 'JobComplete'
    const [header = [], ...rows] = job.rows
    const idColumn = header.findIndex((name) => name.toLowerCase() === 'id')
    for (let from = 0; from < rows.length; from += CHUNK) {
      const chunk = rows.slice(from, from + CHUNK)
      const updates = chunk.map((row) => ({
        type: job.info.object,
        id: row[idColumn] ?? '',
        values: csvValues(header, row),
      }))
      const results = await updateRecords(deps, updates, {
        allOrNone: false,
        allowDuplicates: false,
        usesAssignment: false,
        isCsv: true,
      })
      for (const [at, result] of results.entries()) {
        const row = chunk[at] ?? []
        job.processed += 1
        if (!('errors' in result)) job.successful.push([result.id, 'false', ...row])
        else {
          job.failed += 1
          job.failures.push([row[idColumn] ?? '', result.errors.map(bulkError).join(';'), ...row])
        }
      }
    }
  }

  function select(job: Job): void {
    const selection = runSoql(store, parseSoql(job.info.query ?? ''), job.info.operation === 'queryAll')
    const cell = (value: unknown): string => (value === null || value === undefined ? '' : String(value))
    job.rows = [
      selection.columns.map((column) => column.name),
      ...selection.records.map((record) =>
        selection.columns.map((column) => cell(readColumn(store, record, column)).replace('+0000', 'Z')),
      ),
    ]
    job.processed = selection.records.length
    job.state = 'JobComplete'
  }

  function describe(c: Context<SalesforceEnv>, { info, ...job }: Job): object {
    const isQuery = info.operation !== 'update'
    const version = versionOf(c)
    return {
      id: info.id,
      operation: info.operation,
      object: info.object,
      createdById: apiUserId,
      createdDate: formatDateTime(info.createdAtMs),
      systemModstamp: formatDateTime(now()),
      state: job.state,
      concurrencyMode: 'Parallel',
      contentType: 'CSV',
      apiVersion: Number(version),
      ...(isQuery ? {} : { contentUrl: `services/data/v${version}/jobs/ingest/${info.id}/batches` }),
      lineEnding: info.lineEnding,
      columnDelimiter: info.columnDelimiter,
      jobType: isQuery ? 'V2Query' : 'V2Ingest',
      numberRecordsProcessed: job.processed,
      ...(isQuery ? {} : { numberRecordsFailed: job.failed }),
      ...(job.errorMessage === undefined ? {} : { errorMessage: job.errorMessage }),
      retries: 0,
      totalProcessingTime: job.polls,
    }
  }

  return app
}

function csvAnswer(c: Context<SalesforceEnv>, job: Job, rows: readonly (readonly string[])[]): Response {
  return c.body(formatCsv(rows, DELIMITERS[job.info.columnDelimiter], LINE_ENDS[job.info.lineEnding]), 200, {
    'content-type': 'text/csv',
  })
}

const formatSchema = {
  columnDelimiter: z.enum(['BACKQUOTE', 'CARET', 'COMMA', 'PIPE', 'SEMICOLON', 'TAB']).default('COMMA'),
  lineEnding: z.enum(['LF', 'CRLF']).default('LF'),
}
const ingestSchema = z.object({
  object: z.string(),
  operation: z.literal('update'),
  contentType: z.literal('CSV').default('CSV'),
  ...formatSchema,
})
const querySchema = z.object({ operation: z.enum(['query', 'queryAll']), query: z.string(), ...formatSchema })
