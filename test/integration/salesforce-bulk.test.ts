import { describe, expect, test } from 'vitest'
import type { RecordPatch } from '../../src/connectors/connector.ts'
import { RetriableError } from '../../src/domain/errors.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { statuses } from './salesforce.fixture.ts'
import { bench, collections, fieldsOf, titles, useBench } from './salesforce-writes.fixture.ts'

useBench()
const bulkJobs = /POST .*\/jobs\/ingest$/

describe('writing to Salesforce in bulk', () => {
  const bulk = { bulkThreshold: 100 }

  test('writes one job, matches its results, and keeps apart what to leave and what to clear', async () => {
    const ids = bench.ids('Contact', 300)
    for (const id of ids) bench.org.store.edit('Contact', id, { Title: 'Old', MailingCity: 'Old' })
    bench.org.faults.readOnlyRecords.add(ids[7] as string)
    bench.org.store.delete('Contact', ids[8] as string)
    // The first record has fewer fields than later ones: the columns must still be all there.
    const patches = ids.map((id, at): RecordPatch => {
      if (at === 0) return { id, patch: { city: { set: 'First' } } }
      if (at === 1) return { id, patch: { job_title: { clear: true } } }
      if (at === 2) return { id, patch: { job_title: { set: 'A "quoted", long\nline' } } }
      if (at === 3) return { id, patch: { job_title: { set: '#N/A' } } }
      return { id, patch: { job_title: { set: `T${at}` } } }
    })
    const results = await bench.connect(bulk).write('Contact', patches)
    expect(results.map(({ id }) => id)).toEqual(ids)
    expect(statuses(results)).toEqual({ written: 298, rejected: 1, skipped: 1 })
    expect(results[7]).toMatchObject({ status: 'rejected', code: 'INSUFFICIENT_ACCESS_OR_READONLY' })
    expect(results[8]).toMatchObject({ status: 'skipped' })
    expect(bench.requests(bulkJobs)).toBe(1)
    // A text that would clear goes the other way.
    expect(bench.requests(collections)).toBe(1)
    expect(fieldsOf(ids[0] as string)).toMatchObject({ Title: 'Old', MailingCity: 'First' })
    expect(fieldsOf(ids[1] as string)).toMatchObject({ MailingCity: 'Old' })
    expect(fieldsOf(ids[1] as string)).not.toHaveProperty('Title')
    expect(fieldsOf(ids[2] as string)['Title']).toBe('A "quoted", long\nline')
    expect(fieldsOf(ids[3] as string)['Title']).toBe('#N/A')
    expect(fieldsOf(ids[299] as string)['Title']).toBe('T299')
  })

  test('sends locked rows again as a collection', async () => {
    const ids = bench.ids('Contact', 120)
    bench.org.faults.lockRows(ids.slice(10, 13), 2)
    const results = await bench.connect(bulk).write('Contact', titles(ids))
    expect(statuses(results)).toEqual({ written: 120 })
    expect(bench.requests(bulkJobs)).toBe(1)
    expect(bench.requests(collections)).toBe(2)
  })

  test('a job that takes too long is aborted, and its rows come again later', async () => {
    bench.org.faults.bulkPolls = 1_000_000
    const ids = bench.ids('Contact', 120)
    const results = await bench
      .connect({ ...bulk, bulk: { timeoutMs: 60_000 } })
      .write('Contact', titles(ids))
    expect(statuses(results)).toEqual({ retry: 120 })
    expect(fieldsOf(ids[0] as string)['Title']).not.toBe('Pilot')
  })

  test('keeps looking at a job through an outage', async () => {
    bench.org.faults.bulkPolls = 2
    bench.org.faults.inject({ kind: 'answer', status: 503, times: 4, method: 'GET', path: /jobs\/ingest/ })
    const results = await bench.connect(bulk).write('Contact', titles(bench.ids('Contact', 120)))
    expect(statuses(results)).toEqual({ written: 120 })
  })

  test('makes several jobs of what is too long for one', async () => {
    const ids = bench.ids('Contact', 200)
    const results = await bench
      .connect({ ...bulk, bulk: { maxCharacters: 9_000 } })
      .write('Contact', titles(ids))
    expect(statuses(results)).toEqual({ written: 200 })
    expect(bench.requests(bulkJobs)).toBeGreaterThan(1)
  })

  test('rows of a job that failed as a whole get an answer each from a collection', async () => {
    const body = { id: '750', state: 'Failed', errorMessage: 'InvalidBatch' }
    bench.org.faults.inject({ kind: 'answer', status: 200, body, method: 'GET', path: /ingest\/[^/]+$/ })
    bench.org.faults.inject({ kind: 'answer', status: 200, body: '', times: 2, path: /Results$/ })
    bench.org.faults.readOnlyRecords.add(bench.ids('Contact', 6)[5] as string)
    const results = await bench.connect(bulk).write('Contact', titles(bench.ids('Contact', 120)))
    expect(statuses(results)).toEqual({ written: 119, rejected: 1 })
    expect(bench.requests(bulkJobs)).toBe(1)
  })

  test.each([
    ['upload', { method: 'PUT' }],
    ['start', { method: 'PATCH', path: /jobs\/ingest/ }],
    ['results', { method: 'GET', path: /successfulResults/ }],
  ])('a lost answer to the %s of a job loses no result', async (_, at) => {
    bench.org.faults.inject({ kind: 'drop-after', ...at })
    const results = await bench.connect(bulk).write('Contact', titles(bench.ids('Contact', 120)))
    expect(statuses(results)).toEqual({ written: 120 })
    expect(bench.requests(bulkJobs)).toBe(1)
    expect(bench.requests(collections)).toBe(0)
  })

  test('a job that cannot be filled is not left open, and nothing of it is written', async () => {
    bench.org.faults.inject({ kind: 'answer', status: 503, times: 3, method: 'PUT' })
    const ids = bench.ids('Contact', 120)
    await expect(bench.connect(bulk).write('Contact', titles(ids))).rejects.toThrow(RetriableError)
    expect(bench.requests(/PATCH .*\/jobs\/ingest/)).toBe(1)
    expect(fieldsOf(ids[0] as string)['Title']).not.toBe('Pilot')
  })

  test('results of a first job survive the failure of a second', async () => {
    const ids = bench.ids('Contact', 120)
    const refusal = [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'TotalRequests Limit exceeded.' }]
    const connector = bench.connect({
      ...bulk,
      bulk: { maxCharacters: 9_000 },
      wait: async () => {
        if (bench.requests(/successfulResults/) === 0) return
        throw new Error('no pause was expected behind the first job')
      },
    })
    await connector.describe('Contact')
    let posts = 0
    const take = bench.org.faults.take.bind(bench.org.faults)
    bench.org.faults.take = (method, path) => {
      if (method === 'POST' && path.endsWith('/jobs/ingest') && ++posts > 1)
        return { kind: 'answer', status: 403, body: refusal }
      return take(method, path)
    }
    const results = await connector.write('Contact', titles(ids))
    const counts = statuses(results)
    expect(Object.keys(counts).sort()).toEqual(['retry', 'written'])
    expect(results.findIndex(({ status }) => status === 'retry')).toBe(counts['written'])
    expect(results.at(-1)).toMatchObject({ afterMs: 15 * 60_000 })
  })

  test('duplicates that the settings let through are sent again as a collection', async () => {
    const contact = salesforceMapping.entities['Contact']
    if (!contact) throw new Error('no mapping')
    const fields = { ...contact.fields, headline: { property: 'Email' } }
    const mapping = { ...salesforceMapping, entities: { Contact: { ...contact, fields } } }
    const ids = bench.ids('Contact', 121)
    bench.org.store.edit('Contact', ids[120] as string, { Email: 'taken@norvik.example' })
    const patches = titles(ids.slice(0, 120))
    patches[3] = { id: ids[3] as string, patch: { headline: { set: 'taken@norvik.example' } } }
    const refused = await bench.connect({ ...bulk, mapping }).write('Contact', patches)
    expect(refused[3]).toMatchObject({ status: 'rejected', code: 'DUPLICATES_DETECTED' })
    const headers = { allowDuplicates: true }
    const passed = await bench.connect({ ...bulk, mapping, headers }).write('Contact', patches)
    expect(statuses(passed)).toEqual({ written: 120 })
  })
})

test('2,000 records are written by a job, and read in one request, without any setting', async () => {
  bench.org.store.seed('Contact', { count: 2_000 })
  const ids = bench.ids('Contact', 2_000)
  const connector = bench.connect()
  await connector.read('Contact', ids)
  expect(bench.requests(/POST .*\/composite\/sobjects\/Contact$/)).toBe(1)
  const before = bench.requests(/./)
  expect(statuses(await connector.write('Contact', titles(ids)))).toEqual({ written: 2_000 })
  expect(bench.requests(bulkJobs)).toBe(1)
  expect(bench.requests(collections)).toBe(0)
  // Ten collections otherwise.
  expect(bench.requests(/./) - before).toBeLessThanOrEqual(8)
})
