import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { useSandbox } from './sandbox-fixture.ts'
import { createCaller, created, openReceiver } from './sandbox-monitors.fixture.ts'

const world = useSandbox()
const call = createCaller(() => world.sandbox.serviceUrl)
let receiver: Awaited<ReturnType<typeof openReceiver>>
beforeAll(async () => void (receiver = await openReceiver()))
afterAll(() => receiver.close())
beforeEach(() => {
  receiver.take()
  receiver.serveOnlyGet(false)
  world.sandbox.faults.set({ deliveryRules: { attempts: 2, pauseMs: 1 } })
})

const signal = (name: string) => ({ signal_id: name, domain: 'acme.example', signal_type: 'expansions' })
const active = (change: object = {}) =>
  created(call, { status: 'active', webhook_url: receiver.url, ...change })
const deliver = (id: string, ...names: string[]) =>
  control('POST', 'deliver', { monitor_id: id, signals: names.map(signal) })
const control = (method: string, path: string, body?: unknown) =>
  call(method, `/_sandbox/monitors/${path}`, body)
/** Returns the signals of each delivery that came, by their ids. */
const arrived = () =>
  receiver.take().map(({ body }) => (body.signals as { signal_id: string }[])[0]!.signal_id)

interface Log {
  is_test: boolean
  signal_count: number
  signals?: { signal_id: string }[]
  deliveries: { delivery_id: string; status: string; attempts: { upstream_status: number | null }[] }[]
}
async function logsOf(id: string): Promise<Log[]> {
  const { body } = await call('GET', `/monitors/${id}/detection-logs`)
  return body.data['logs'] as Log[]
}

describe('the validation of a webhook', () => {
  const validate = (body: object) => call('POST', '/monitors/webhook/validate', body)

  test('is a signed delivery that bears the headers of the monitor', async () => {
    const reply = await validate({ webhook_url: receiver.url, webhook_headers: { 'x-secret': 'open' } })
    expect(reply).toMatchObject({ status: 200, body: { data: { is_valid: true, upstream_status: 200 } } })
    const [received, ...more] = receiver.take()
    expect(more).toEqual([])
    expect(received).toMatchObject({ body: { is_test: true, signals: [] }, headers: { 'x-secret': 'open' } })
  })

  test('fails at a URL that answers only GET, and returns what it answered', async () => {
    receiver.serveOnlyGet(true)
    expect((await fetch(receiver.url)).status).not.toBe(405)
    expect(await validate({ webhook_url: receiver.url })).toMatchObject({
      status: 400,
      body: { code: 40026, details: { upstream_status: 405, upstream_body: 'only GET is served here' } },
    })
  })

  test('fails at a redirect, at a closed port, and without a URL', async () => {
    receiver.answerNext({ status: 302, text: 'elsewhere' })
    expect((await validate({ webhook_url: receiver.url })).body.details).toMatchObject({
      upstream_status: 302,
    })
    const gone = await openReceiver()
    await gone.close()
    expect(await validate({ webhook_url: gone.url })).toMatchObject({
      status: 400,
      body: { code: 40026, details: { upstream_status: null, upstream_body: null } },
    })
    expect((await validate({})).body.code).toBe(41847)
    expect((await validate({ webhook_url: 'ftp://x.example' })).body.code).toBe(40025)
  })

  test('sends nothing to another machine', async () => {
    const { body } = await validate({ webhook_url: 'https://hooks.example/x' })
    expect(body).toMatchObject({ code: 40026, details: { error: 'the sandbox sends to this machine only' } })
  })

  test('keeps only the beginning of a long answer', async () => {
    receiver.answerNext({ status: 500, text: 'x'.repeat(1_000_000) })
    const { details } = (await validate({ webhook_url: receiver.url })).body
    expect(details['upstream_body']).toHaveLength(2_000)
  })
})

describe('test processing', () => {
  test('delivers a marked signal in any state of the monitor, and logs it', async () => {
    const { monitor_id: id } = await active({ status: 'paused' })
    expect((await call('POST', `/monitors/${id}/test`)).body.data).toMatchObject({ is_delivered: true })
    expect(receiver.take()).toMatchObject([{ body: { is_test: true, monitor: { monitor_id: id } } }])
    expect(await logsOf(id)).toMatchObject([{ is_test: true, deliveries: [{ status: 'delivered' }] }])
    const { body } = await call('GET', `/monitors/${id}/statistics`)
    expect(body.data).toMatchObject({ detection_count: 0, delivery_count: 0 })
  })

  test('says what the webhook answered, once', async () => {
    const { monitor_id: id } = await active()
    receiver.answerNext({ status: 503, text: 'closed' })
    expect(await call('POST', `/monitors/${id}/test`, {})).toMatchObject({
      status: 400,
      body: { code: 40026, details: { upstream_status: 503, upstream_body: 'closed' } },
    })
    expect(receiver.take()).toHaveLength(1)
    const without = await active({ webhook_url: null })
    expect((await call('POST', `/monitors/${without.monitor_id}/test`)).body.code).toBe(40032)
  })
})

describe('a detection', () => {
  test('is delivered by signal or by company, as the monitor was created', async () => {
    const { monitor_id: broad } = await active({ webhook_headers: { 'x-secret': 'open' } })
    await deliver(broad, 'a', 'b')
    expect(receiver.take()).toMatchObject([
      {
        body: { is_test: false, signals: [{ signal_id: 'a' }, { signal_id: 'b' }] },
        headers: { 'x-secret': 'open' },
      },
    ])
    const named = { detection_mode: 'company_first', domain_search_ids: ['ds-acme.example'] }
    const { monitor_id: narrow } = await active(named)
    await deliver(narrow, 'a', 'b')
    const body = receiver.take()[0]?.body
    expect(body).not.toHaveProperty('signals')
    expect(body).toMatchObject({ companies: [{ domain: 'acme.example', signals: [{}, {}] }] })
  })

  test('comes from active monitors alone, and needs no webhook', async () => {
    const { monitor_id: id } = await active()
    await call('PATCH', `/monitors/${id}`, { status: 'paused' })
    expect((await deliver(id, 'a')).status).toBe(409)
    await call('PATCH', `/monitors/${id}`, { status: 'active', webhook_url: null })
    expect((await deliver(id, 'b')).status).toBe(200)
    expect(await logsOf(id)).toMatchObject([{ signals: [{ signal_id: 'b' }], deliveries: [] }])
    expect((await deliver('nobody', 'a')).status).toBe(404)
    expect((await control('POST', 'deliver', { monitor_id: id })).status).toBe(400)
    expect(receiver.take()).toEqual([])
  })

  test('is tried again until the webhook takes it, with the same bytes, and the log knows each attempt', async () => {
    const { monitor_id: id } = await active()
    receiver.answerNext({ status: 500, text: '' })
    await deliver(id, 'a')
    const [first, second, ...more] = receiver.take()
    expect(more).toEqual([])
    expect([second?.id, second?.text]).toEqual([first?.id, first?.text])
    receiver.answerNext({ status: 500, text: '' }, { status: 410, text: '' })
    await deliver(id, 'b')
    const attempts = (await logsOf(id)).map(({ deliveries }) => ({
      status: deliveries[0]?.status,
      upstream: deliveries[0]?.attempts.map((each) => each.upstream_status),
    }))
    expect(attempts).toEqual([
      { status: 'failed', upstream: [500, 410] },
      { status: 'delivered', upstream: [500, 200] },
    ])
  })

  test('is repeated in the same bytes, or anew with the same signals', async () => {
    const { monitor_id: id } = await active()
    world.sandbox.faults.set({ deliveryRepeat: { next: 1, times: 2 } })
    await deliver(id, 'a')
    const same = receiver.take()
    expect(same).toHaveLength(3)
    expect(new Set(same.map((each) => each.text)).size).toBe(1)
    world.sandbox.faults.set({ deliveryRepeat: { next: 1, anew: true } })
    await deliver(id, 'b')
    const [one, two] = receiver.take()
    expect(two?.id).not.toBe(one?.id)
    expect(two?.body.signals).toEqual(one?.body.signals)
    expect((await logsOf(id)).map(({ deliveries }) => deliveries.length)).toEqual([2, 1])
  })

  test('is overtaken by a later one, or waits for a flush', async () => {
    const { monitor_id: id } = await active()
    const { monitor_id: other } = await active()
    world.sandbox.faults.set({ deliveryReorder: { next: 2 } })
    await deliver(id, 'first')
    await deliver(other, 'other')
    expect(arrived()).toEqual([])
    expect(await logsOf(id)).toMatchObject([{ deliveries: [{ status: 'pending', attempts: [] }] }])
    await deliver(id, 'second')
    expect(arrived()).toEqual(['second', 'first'])
    expect((await control('POST', 'flush')).body).toEqual({ sent: 1 })
    expect(arrived()).toEqual(['other'])
  })

  test('is late or lost in an outage, and the log still knows it', async () => {
    const { monitor_id: id } = await active()
    world.sandbox.faults.set({ deliveryOutage: { next: 1, lost: true } })
    await deliver(id, 'lost')
    world.sandbox.faults.set({ deliveryOutage: { next: 1 } })
    await deliver(id, 'late')
    expect(arrived()).toEqual([])
    await deliver(id, 'after')
    expect(arrived()).toEqual(['after', 'late'])
    const logs = await logsOf(id)
    expect(logs.map((each) => [each.signals?.[0]?.signal_id, each.deliveries[0]?.status])).toEqual([
      ['after', 'delivered'],
      ['late', 'delivered'],
      ['lost', 'failed'],
    ])
    const { body } = await call('GET', `/monitors/${id}/statistics`)
    expect(body.data).toMatchObject({ detection_count: 3, delivered_count: 2, failed_count: 1 })
    const charts = await call('GET', `/monitors/${id}/charts`)
    expect((charts.body.data['series'] as object[]).at(-1)).toMatchObject({
      detection_count: 3,
      signal_count: 3,
    })
    expect((charts.body.data['series'] as object[]).length).toBe(30)
  })

  test('is delayed, and the next one comes before it', async () => {
    const { monitor_id: id } = await active()
    world.sandbox.faults.set({ deliveryDelay: { next: 1, delayMs: 300 } })
    const slow = deliver(id, 'slow')
    await expect.poll(async () => (await logsOf(id)).length).toBe(1)
    await deliver(id, 'quick')
    await slow
    expect(arrived()).toEqual(['quick', 'slow'])
  })

  test('of a deleted monitor stays known to the control route alone', async () => {
    const { monitor_id: id } = await active()
    await world.sandbox.monitors.deliver(id, [signal('a')])
    await call('DELETE', `/monitors/${id}`)
    expect((await call('GET', `/monitors/${id}/detection-logs`)).body.code).toBe(40020)
    expect((await control('GET', `detections?monitor_id=${id}`)).body).toHaveLength(1)
  })
})

test('a network of another name is in the keys of deliveries, and a sandbox that stops waits for none', async () => {
  const own = await startSandbox({ networkName: 'guild' })
  const ask = createCaller(() => own.serviceUrl)
  try {
    const { monitor_id: id } = await created(ask, { status: 'active', webhook_url: receiver.url })
    await own.monitors.deliver(id, [{ ...signal('a'), profnet_url: 'https://x.example/company/a' }])
    expect(receiver.take()[0]?.body.signals).toMatchObject([{ guild_url: 'https://x.example/company/a' }])
    own.faults.set({ deliveryDelay: { next: 1, delayMs: 600_000 } })
    void own.monitors.deliver(id, [signal('b')])
  } finally {
    await own.stop()
  }
})
