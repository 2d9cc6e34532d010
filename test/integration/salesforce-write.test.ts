import { describe, expect, test } from 'vitest'
import type { WriteResult } from '../../src/connectors/connector.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import type { Patch } from '../../src/domain/record.ts'
import { statuses } from './salesforce.fixture.ts'
import { bench, collections, fieldsOf, titles, useBench } from './salesforce-writes.fixture.ts'

useBench()

describe('writing to Salesforce', () => {
  test('writes 200 a request and names the bad ones, in order, by code and field', async () => {
    const ids = bench.ids('Contact', 450)
    const [converted = ''] = bench.ids('Lead', 1)
    bench.org.store.convert(converted)
    const at = { rule: 3, deleted: 201, readOnly: 399, unknown: 449 }
    bench.org.faults.validationRules.push({
      type: 'Contact',
      field: 'Title',
      message: 'No kings here, ask king@norvik.example or +49 30 1234567',
      refuses: ({ Title }) => Title === 'King',
    })
    bench.org.store.delete('Contact', ids[at.deleted] as string)
    bench.org.faults.readOnlyRecords.add(ids[at.readOnly] as string)
    const patches = titles(ids)
    patches[at.rule] = { id: ids[at.rule] as string, patch: { job_title: { set: 'King' } } }
    patches[at.unknown] = { id: '003Wx00000zzzzzAAA', patch: { job_title: { set: 'x' } } }
    const connector = bench.connect()
    const results = await connector.write('Contact', patches)
    expect(results.map(({ id }) => id)).toEqual(patches.map(({ id }) => id))
    expect(statuses(results)).toEqual({ written: 446, rejected: 2, skipped: 2 })
    expect(results[at.rule]).toEqual({
      id: ids[at.rule],
      status: 'rejected',
      code: 'FIELD_CUSTOM_VALIDATION_EXCEPTION',
      field: 'job_title',
      reason: 'No kings here, ask … or …',
    })
    expect(results[at.readOnly]).toMatchObject({
      status: 'rejected',
      code: 'INSUFFICIENT_ACCESS_OR_READONLY',
    })
    expect(results[at.deleted]).toMatchObject({ status: 'skipped', reason: 'the record is gone' })
    expect(results[at.unknown]).toMatchObject({ status: 'skipped', reason: 'the record is gone' })
    expect(bench.requests(collections)).toBe(3)
    expect(await connector.write('Lead', titles([converted]))).toEqual([
      { id: converted, status: 'skipped', reason: 'the lead was converted' },
    ])
  })

  test.each<[string, Patch, unknown, Partial<WriteResult>]>([
    ['absent leaves', { city: { set: 'Lyon' } }, 'Old', { status: 'written' }],
    ['a value sets', { job_title: { set: ' New ' } }, 'New', { status: 'written' }],
    ['a clear clears', { job_title: { clear: true } }, undefined, { status: 'written' }],
    ['a blank is never sent', { job_title: { set: ' ' } }, 'Old', { status: 'rejected', code: 'BLANK' }],
    [
      'a long text is cut',
      { job_title: { set: 'word '.repeat(40) } },
      `${'word '.repeat(25).trim()}…`,
      { status: 'written' },
    ],
    ['nothing sends nothing', {}, 'Old', { status: 'unchanged' }],
    ['what is not mapped sends nothing', { followers: { set: 3 } }, 'Old', { status: 'unchanged' }],
  ])('%s', async (_, patch, title, result) => {
    const [id = ''] = bench.ids('Contact', 1)
    bench.org.store.edit('Contact', id, { Title: 'Old' })
    expect(await bench.connect().write('Contact', [{ id, patch }])).toEqual([
      expect.objectContaining({ id, ...result }),
    ])
    expect(fieldsOf(id)['Title']).toBe(title)
  })

  test('leaves out what does not fit its field, and writes the rest', async () => {
    const [id = ''] = bench.ids('Account', 1)
    const account = salesforceMapping.entities['Account']
    if (!account) throw new Error('no mapping')
    const mapping = {
      ...salesforceMapping,
      entities: {
        Account: { ...account, fields: { ...account.fields, employee_range: { property: 'Size_Band__c' } } },
      },
    }
    const result = await bench.connect({ mapping }).write('Account', [
      {
        id,
        patch: {
          employee_range: { set: 'huge' },
          employees: { set: 3_000_000_000 },
          company_name: { clear: true },
          website: { set: `https://norvik.example/${'x'.repeat(255)}` },
          description: { set: 'Ships' },
          industry: { set: 'food and beverage' },
        },
      },
    ])
    expect(result).toEqual([
      {
        id,
        status: 'written',
        leftOut: [
          expect.objectContaining({ field: 'employee_range', code: 'NO_SUCH_OPTION' }),
          expect.objectContaining({ field: 'employees', code: 'TOO_LARGE' }),
          expect.objectContaining({ field: 'company_name', code: 'REQUIRED' }),
          expect.objectContaining({ field: 'website', code: 'TOO_LONG' }),
        ],
      },
    ])
    expect(bench.org.store.get('Account', id)?.fields).toMatchObject({
      Description: 'Ships',
      Industry: 'Food & Beverage',
      Paydirt_Status__c: 'enriched',
    })
  })

  test('sends locked rows again, alone and after a pause, and gives up on those that stay locked', async () => {
    const ids = bench.ids('Contact', 250)
    bench.org.faults.lockRows([ids[5] as string, ids[240] as string], 2)
    bench.org.faults.lockRows([ids[6] as string], 99)
    const startMs = bench.clock.nowMs
    const wait = async (ms: number): Promise<void> => {
      bench.pauses.push(ms)
      bench.clock.nowMs += 10_000
    }
    const results = await bench.connect({ wait }).write('Contact', titles(ids))
    expect(statuses(results)).toEqual({ written: 249, retry: 1 })
    expect(results[6]).toEqual({
      id: ids[6],
      status: 'retry',
      afterMs: 30_000,
      reason: 'another process has locked the record',
    })
    expect(bench.pauses).toEqual([250, 500, 1_000, 2_000])
    expect(bench.requests(collections)).toBe(2 + 4)
    // Only the two that were locked were sent, and written, behind a pause.
    const modified = ids.map((id) => bench.org.store.get('Contact', id)?.modifiedAtMs ?? 0)
    expect(modified.filter((atMs) => atMs <= startMs)).toHaveLength(248)
  })

  test('draws the pauses at random', async () => {
    const [id = ''] = bench.ids('Contact', 1)
    bench.org.faults.lockRows([id], 2)
    const drawn = [0.1, 0.9]
    await bench.connect({ random: () => drawn.shift() ?? 0 }).write('Contact', titles([id]))
    expect(bench.pauses).toEqual([150, 700])
  })

  test('writes contacts of one account side by side, one request at a time', async () => {
    const ids = bench.ids('Contact', 600)
    bench.org.faults.lockHoldMs = 20
    const connector = bench.connect()
    await connector.read('Contact', ids)
    const half = 300
    const both = await Promise.all([
      connector.write('Contact', titles(ids.slice(0, half))),
      connector.write('Contact', titles(ids.slice(half))),
    ])
    expect(statuses(both.flat())).toEqual({ written: 600 })
    expect(bench.pauses).toEqual([])
    expect(bench.org.stats().mostConcurrent).toBe(1)
  })

  test.each([
    ['collections', 10_000],
    ['a job', 100],
  ])('sends contacts of one account next to each other, in %s', async (_, bulkThreshold) => {
    const accounts: unknown[] = []
    bench.org.faults.validationRules.push({
      type: 'Contact',
      message: 'never',
      refuses: ({ AccountId }) => accounts.push(AccountId ?? null) < 0,
    })
    const ids = bench.ids('Contact', 450)
    const connector = bench.connect({ bulkThreshold })
    await connector.read('Contact', ids)
    expect(statuses(await connector.write('Contact', titles(ids)))).toEqual({ written: 450 })
    const changes = accounts.filter((account, at) => account !== accounts[at - 1]).length
    expect(accounts).toHaveLength(450)
    expect(changes).toBe(new Set(accounts).size)
  })

  test('what is no id of the object spoils no request', async () => {
    const [id = ''] = bench.ids('Contact', 1)
    const results = await bench.connect().write('Contact', titles(['nonsense', ...bench.ids('Lead', 1), id]))
    expect(results.map(({ status }) => status)).toEqual(['skipped', 'skipped', 'written'])
  })

  test('does not send a record twice in one request', async () => {
    const [id = ''] = bench.ids('Contact', 1)
    const results = await bench
      .connect()
      .write('Contact', [...titles([id], 'First'), ...titles([id.slice(0, 15)], 'Second')])
    expect(statuses(results)).toEqual({ written: 2 })
    expect(fieldsOf(id)['Title']).toBe('Second')
  })

  test('a lost answer is no lost result', async () => {
    const ids = bench.ids('Contact', 3)
    bench.org.faults.inject({ kind: 'drop-after', method: 'PATCH' })
    expect(statuses(await bench.connect().write('Contact', titles(ids)))).toEqual({ written: 3 })
    expect(bench.requests(collections)).toBe(2)
  })

  test('results of what was written survive a failure behind them', async () => {
    const ids = bench.ids('Contact', 450)
    const connector = bench.connect({ quotaShare: 1 })
    await connector.read('Contact', ids.slice(0, 1))
    bench.org.quota.used = bench.org.quota.limit - 1
    const results = await connector.write('Contact', titles(ids))
    expect(statuses(results)).toEqual({ written: 200, retry: 250 })
    expect(results.findIndex(({ status }) => status === 'retry')).toBe(200)
    expect(results[449]).toMatchObject({ afterMs: expect.any(Number) })
    expect((results[449] as { afterMs: number }).afterMs).toBeGreaterThan(0)
  })

  test('a field that goes away in mid run is left out of the records, not held against them', async () => {
    const [id = ''] = bench.ids('Contact', 1)
    const connector = bench.connect()
    await connector.read('Contact', [id])
    bench.org.store.schema.Contact.fields.delete('title')
    const patch: Patch = { job_title: { set: 'Pilot' }, city: { set: 'Lyon' } }
    expect(await connector.write('Contact', [{ id, patch }])).toEqual([
      {
        id,
        status: 'written',
        leftOut: [expect.objectContaining({ field: 'job_title', code: 'NO_SUCH_FIELD' })],
      },
    ])
  })

  test('a request refused for what stands in it is halved down to the record at fault', async () => {
    const ids = bench.ids('Contact', 16)
    const body = [{ errorCode: 'JSON_PARSER_ERROR', message: 'Cannot deserialize secret value' }]
    // The whole, its first half, that one's first half, and so on down to the first record alone.
    bench.org.faults.inject({ kind: 'answer', status: 400, body, times: 5, method: 'PATCH' })
    const results = await bench.connect().write('Contact', titles(ids))
    expect(statuses(results)).toEqual({ rejected: 1, written: 15 })
    expect(results[0]).toMatchObject({ status: 'rejected', code: 'JSON_PARSER_ERROR' })
    expect(JSON.stringify(results)).not.toContain('secret')
    expect(bench.requests(collections)).toBe(9)
  })

  test('duplicate rules and assignment rules are obeyed or passed as the settings say', async () => {
    const [a = '', b = ''] = bench.ids('Lead', 2)
    const lead = salesforceMapping.entities['Lead']
    if (!lead) throw new Error('no mapping')
    const mapping = {
      ...salesforceMapping,
      entities: { Lead: { ...lead, fields: { ...lead.fields, headline: { property: 'Email' } } } },
    }
    bench.org.store.edit('Lead', b, { Email: 'taken@norvik.example' })
    bench.org.faults.hasLeadAssignment = true
    const owner = bench.org.store.get('Lead', a)?.fields['OwnerId']
    const write = (headers: object): Promise<WriteResult[]> =>
      bench
        .connect({ mapping, headers })
        .write('Lead', [{ id: a, patch: { headline: { set: 'taken@norvik.example' } } }])
    expect(await write({})).toEqual([
      {
        id: a,
        status: 'rejected',
        code: 'DUPLICATES_DETECTED',
        reason: 'a duplicate rule of the org refuses it',
      },
    ])
    expect(await write({ allowDuplicates: true })).toEqual([{ id: a, status: 'written' }])
    expect(bench.org.store.get('Lead', a)?.fields['OwnerId']).toBe(owner)
    expect(await write({ allowDuplicates: true, autoAssign: true })).toEqual([{ id: a, status: 'written' }])
    expect(bench.org.store.get('Lead', a)?.fields['OwnerId']).not.toBe(owner)
  })

  test('goes on without our own fields where the org has none', async () => {
    for (const name of ['paydirt_status__c', 'paydirt_enriched_at__c', 'paydirt_source__c'])
      bench.org.store.schema.Contact.fields.delete(name)
    const [id = ''] = bench.ids('Contact', 1)
    const connector = bench.connect()
    expect(await connector.write('Contact', titles([id]))).toEqual([{ id, status: 'written' }])
    const ensured = await connector.ensureFields('Contact', { dryRun: true })
    expect(ensured.filter(({ status }) => status !== 'exists').map(({ name }) => name)).toEqual([
      'Paydirt_Status__c',
      'Paydirt_Enriched_At__c',
      'Paydirt_Source__c',
    ])
    expect(ensured[0]?.reason).toContain('crm/salesforce')
  })
})
