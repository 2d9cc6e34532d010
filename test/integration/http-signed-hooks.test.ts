import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { call, secrets } from '../support/http-house.ts'
import { reportDeliveries } from '../../src/app/monitors/deliveries-report.ts'
import { aCompany, house, useHookHouse } from './hooks.fixture.ts'

useHookHouse()

describe('Salesforce, signed by HMAC', () => {
  test('is let in, and told that no org is connected here', async () => {
    const body = JSON.stringify({ action: 'enrich', object: 'Account', recordId: '001000000000001' })
    const [time, nonce] = [String(Math.floor(Date.now() / 1000)), randomBytes(12).toString('hex')]
    const headers = {
      'x-paydirt-timestamp': time,
      'x-paydirt-nonce': nonce,
      'x-paydirt-signature': `v1=${createHmac('sha256', secrets.salesforce)
        .update(`${time}.${nonce}.POST./hooks/salesforce.${body}`)
        .digest('hex')}`,
    }
    const answer = await call(`${house.url}/hooks/salesforce`, { body, headers })
    expect(answer).toMatchObject({ status: 503, body: { code: 'not_connected' } })
    // The fault was ours: the same may come again, and it is heard again.
    expect(await call(`${house.url}/hooks/salesforce`, { body, headers })).toMatchObject({ status: 503 })
    const forged = await call(`${house.url}/hooks/salesforce`, { body: body.replace('001', '002'), headers })
    expect(forged).toMatchObject({ status: 401, body: { code: 'salesforce_wrong_signature' } })
  })
})

describe('a monitor', () => {
  const deliver = (body: unknown, secret = secrets.monitor) =>
    call(`${house.url}/hooks/monitor`, { body, headers: { 'x-paydirt-monitor-secret': secret } })
  const ended = async (count: number) => {
    for (;;) {
      const rows = await house.context.database.db
        .selectFrom('monitor_deliveries')
        .selectAll()
        .where('done_at', 'is not', null)
        .orderBy('received_at')
        .execute()
      if (rows.length >= count) return rows
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  test('answers a GET plainly, and lets nobody in without the secret', async () => {
    const response = await fetch(`${house.url}/hooks/monitor`)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('POST')
    expect(await deliver({}, 'x'.repeat(20))).toMatchObject({
      status: 401,
      body: { code: 'monitor_wrong_secret' },
    })
  })

  test('counts what cannot be read, and keeps the names of headers that nothing reads', async () => {
    const headers = { 'x-paydirt-monitor-secret': secrets.monitor, 'X-Sig-Of-Theirs': 'never-to-be-kept' }
    for (const [body, status] of [
      ['{', 400],
      ['[]', 422],
      [{ signals: 1 }, 422],
    ] as const)
      expect(await call(`${house.url}/hooks/monitor`, { body, headers })).toMatchObject({ status })
    expect(await call(`${house.url}/hooks/monitor`, { body: '{', headers: {} })).toMatchObject({
      status: 401,
    })
    expect(await call(`${house.url}/hooks/monitor`, { body: { is_test: true }, headers })).toMatchObject({
      status: 200,
    })
    const { others, unknownHeaders } = await reportDeliveries(house.context)
    expect(others).toContainEqual(expect.objectContaining({ outcome: 'malformed', deliveries: 3 }))
    expect(unknownHeaders).toEqual(['x-sig-of-theirs'])
    await house.context.database.db.deleteFrom('monitor_deliveries').execute()
  })

  test('makes tasks of the records that are known of its companies, and says which are not', async () => {
    // Known from an earlier run: one by its profile, one by the domain that stands in the record.
    const byProfile = aCompany()
    const byDomain = aCompany({ domain: 'https://www.Known-By-Domain.example/about' })
    const token = await house.token()
    await call(`${house.url}/v1/enrich?wait=13`, {
      token,
      body: { connector: 'hubspot', object: 'company', ids: [byProfile, byDomain] },
    })
    const before = (await house.transfers()).length
    const body = {
      monitor: { id: 1 },
      triggered_at: '2026-11-20T00:00:00Z',
      signals: [
        { type: 'expansions', company: { profnet_url: house.company(byProfile)['profnet_url'] } },
        { type: 'expansions', domain: 'known-by-domain.example' },
        { type: 'expansions', domain: 'nobody-knows.example' },
      ],
    }
    expect(await deliver(body)).toMatchObject({ status: 200, body: { received: true, isNew: true } })
    expect(await deliver(body)).toMatchObject({ status: 200, body: { isNew: false } })
    const [row] = await ended(1)
    expect(row).toMatchObject({ records: 2, unknown: 1, body: null, reason: null })
    const tasks = await house.context.database.db
      .selectFrom('tasks')
      .innerJoin('runs', 'runs.id', 'tasks.run_id')
      .select(['record_id', 'connector', 'status'])
      .where('trigger', '=', 'monitor')
      .orderBy('record_id')
      .execute()
    // The two that were pressed a moment ago are those tasks: nothing is bought for them again.
    expect(tasks).toEqual([{ record_id: 'nobody-knows.example', connector: 'monitor', status: 'skipped' }])
    expect(await house.transfers()).toHaveLength(before)
  })

  test('takes a delivery of hundreds of companies at once, and refuses one above a megabyte', async () => {
    const companies = Array.from({ length: 300 }, (_, n) => ({
      profnet_url: `https://www.profnet.example/company/monitored-${n}`,
      domain: `monitored-${n}.example`,
      description: 'x'.repeat(2_000),
    }))
    const startedMs = performance.now()
    expect(await deliver({ companies })).toMatchObject({ status: 200 })
    expect(performance.now() - startedMs).toBeLessThan(2_000)
    expect((await ended(2)).at(-1)).toMatchObject({ records: 0, unknown: 300 })
    const tooLarge = await deliver({ companies: [...companies, ...companies] })
    expect(tooLarge).toMatchObject({ status: 413, body: { code: 'too_large' } })
  })
})
