import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { call, openHttpHouse, type HttpHouse } from '../support/http-house.ts'

interface Task {
  id: string
  recordId: string
  runId: string
  status: string
  reason: string | null
  done: boolean
  costUsd: string
  fields: { name: string; label: string; value: string }[]
}
interface Enriched {
  runId: string
  statusUrl: string
  tasks: Task[]
}

let sandbox: Sandbox
let house: HttpHouse
let token: string
let next = 0

beforeAll(async () => {
  sandbox = await startSandbox()
  // The recipe `contact` has steps above the default cap, so it would not begin.
  const payment = { maxPricesUsd: { 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' } }
  house = await openHttpHouse(sandbox, { config: { payment } })
  token = await house.token()
})
afterAll(async () => {
  await house?.close()
  await sandbox?.stop()
})
beforeEach(() => sandbox.faults.reset())

/** A company that nobody has asked for: blank but for its profile, and known to the service. */
function aCompany(): string {
  for (;;) {
    next += 1
    const url = `https://www.profnet.example/company/enrich-${next}`
    if (companyAnswer(url).data) return house.addCompany({ name: `Acme ${next}`, profnet_url: url })
  }
}

const enrich = <T = Enriched>(body: unknown, query = '', by = token) =>
  call<T>(`${house.url}/v1/enrich${query}`, { token: by, body })

describe('POST /v1/enrich', () => {
  test('enriches a record and answers within `wait` with what was written and what it cost', async () => {
    const id = aCompany()
    const { status, body } = await enrich({ connector: 'hubspot', object: 'company', ids: [id] }, '?wait=13')
    expect(status).toBe(200)
    const [task] = body.tasks
    expect(task).toMatchObject({ recordId: id, status: 'written', done: true, costUsd: '0.010000' })
    const domain = house.company(id)['domain'] ?? ''
    expect(domain).not.toBe('')
    expect(task?.fields).toContainEqual({ name: 'domain', label: 'Domain', value: domain })
    expect(await house.transfers()).toHaveLength(1)
  })

  test('without `wait` answers 202 at once, and the status tells the rest', async () => {
    const id = aCompany()
    const { status, body, headers } = await enrich({ connector: 'hubspot', object: 'companies', ids: [id] })
    expect(status).toBe(202)
    expect(headers.get('location')).toBe(body.statusUrl)
    const [task] = body.tasks
    expect(['queued', 'looking_up']).toContain(task?.status)
    const ended = await untilEnded(task?.id ?? '')
    expect(ended).toMatchObject({ status: 'written', runId: body.runId })
    const run = await call(`${house.url}${body.statusUrl}`, { token })
    expect(run.body).toMatchObject({ trigger: 'button', records: 1, tasks: { written: 1, queued: 0 } })
  })

  test('a record asked for twice within a minute, by anybody, at once or after its end, is one task', async () => {
    const ids = [aCompany(), aCompany()]
    const other = await house.token()
    const before = (await house.transfers()).length
    const body = { connector: 'hubspot', object: 'company', ids }
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => enrich(body, '', index % 2 === 0 ? token : other)),
    )
    const again = await enrich(body, '?wait=13')
    const names = answers.map((answer) => answer.body.tasks.map((task) => task.id).join())
    expect(new Set([...names, again.body.tasks.map((task) => task.id).join()]).size).toBe(1)
    expect(again.status).toBe(200)
    const third = await enrich(body)
    expect(third.body.tasks.map(({ status }) => status)).toEqual(['written', 'written'])
    expect((await house.transfers()).length - before).toBe(2)
    const rows = await house.context.database.db
      .selectFrom('tasks')
      .select('id')
      .where('record_id', 'in', ids)
      .execute()
    expect(rows).toHaveLength(2)
  })

  test('a record that is gone, and one that the CRM merged, are skipped and say so', async () => {
    const [winner, loser] = [aCompany(), aCompany()]
    const merged = house.hubspot.store.merge('companies', winner, loser)
    const { status, body } = await enrich(
      { connector: 'hubspot', object: 'company', ids: ['404404404', loser] },
      '?wait=13',
    )
    expect(status).toBe(200)
    expect(body.tasks).toMatchObject([
      { recordId: '404404404', status: 'skipped', reason: 'the record is gone', costUsd: '0.000000' },
      { recordId: loser, status: 'skipped', reason: `the record was merged into ${merged}` },
    ])
  })

  test('whoever is to be left alone is left alone', async () => {
    const id = aCompany()
    const { profnet_url: url = '' } = house.company(id)
    const mark = { kind: 'profile_url' as const, value: url.replace('https://www.', '') }
    await house.context.suppressions.add([mark])
    const before = (await house.transfers()).length
    const { body } = await enrich({ connector: 'hubspot', object: 'company', ids: [id] }, '?wait=13')
    expect(body.tasks).toMatchObject([{ status: 'skipped', reason: 'suppressed' }])
    expect(await house.transfers()).toHaveLength(before)
  })

  test('a person is found by what a scan would find it by: an e-mail that no mapped field holds', async () => {
    const id = house.hubspot.store.add('contacts', {
      properties: { firstname: 'Jane', lastname: 'Doe', email: 'jane@enrich-by-mail.example' },
    }).id
    const { status, body } = await enrich(
      { connector: 'hubspot', object: 'person', ids: [id], recipe: 'contact' },
      '?wait=13',
    )
    expect(status).toBe(200)
    const { lookup_key: key } = await house.context.database.db
      .selectFrom('tasks')
      .select('lookup_key')
      .where('record_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(key).toContain('contact.lookup|')
    expect(key).toContain('jane@enrich-by-mail.example')
    expect(body.tasks).toMatchObject([{ recordId: id, done: true }])
  })

  test('two records under one profile are paid for once, and the second costs nothing', async () => {
    const first = aCompany()
    const second = house.addCompany({
      name: 'The same',
      profnet_url: house.company(first)['profnet_url'] ?? '',
    })
    const { body } = await enrich(
      { connector: 'hubspot', object: 'company', ids: [first, second] },
      '?wait=13',
    )
    expect(body.tasks.map(({ costUsd }) => costUsd)).toEqual(['0.010000', '0.000000'])
  })

  test.each([
    [{ connector: 'pipedrive', object: 'company', ids: ['1'] }, '/connector'],
    [{ connector: 'hubspot', object: 'deal', ids: ['1'] }, '/object'],
    [{ connector: 'hubspot', object: 'company', ids: ['1'], recipe: 'nonesuch' }, '/recipe'],
    [{ connector: 'hubspot', object: 'company', ids: [] }, '/ids'],
    [{ connector: 'hubspot', object: 'company', ids: ['1', 'a b'] }, '/ids/1'],
    [{ connector: 'hubspot', object: 'company', ids: Array.from({ length: 101 }, (_, n) => `${n}`) }, '/ids'],
    [{ connector: 'hubspot', ids: ['1'] }, '/object'],
    [{ connector: 'hubspot', object: 'company', ids: ['1'], more: 1 }, ''],
  ])('refuses %j and names the place %s', async (body, pointer) => {
    const answer = await enrich<{ code: string; errors: { pointer: string }[]; requestId: string }>(body)
    expect(answer.status).toBe(422)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.body).toMatchObject({ code: 'invalid_input', errors: [{ pointer }] })
    expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'))
  })

  test.each(['14', '-1', '1.5', 'x'])('refuses wait=%s', async (wait) => {
    const answer = await enrich({ connector: 'hubspot', object: 'company', ids: ['1'] }, `?wait=${wait}`)
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ parameter: 'wait' }] } })
  })
})

describe('a CRM that is away', () => {
  test('makes tasks wait, says why, and they go on when it is back', async () => {
    const id = aCompany()
    house.hubspot.faults.inject({ kind: 'answer', status: 403, body: {}, path: /batch\/read/ })
    const { body } = await enrich({ connector: 'hubspot', object: 'company', ids: [id] }, '?wait=1')
    const [task] = body.tasks
    const waiting = await call<Task>(`${house.url}/v1/tasks/${task?.id}`, { token })
    expect(waiting.body).toMatchObject({ status: 'queued', done: false })
    expect(waiting.body.reason).toMatch(/HubSpot/)
    expect(await untilEnded(task?.id ?? '')).toMatchObject({ status: 'written' })
  })
})

/** Follows the task's events to their end, and answers the last one. */
async function untilEnded(id: string): Promise<Task> {
  const events = await readEvents(`${house.url}/v1/tasks/${id}/events`)
  return events.at(-1)?.data as Task
}

async function readEvents(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}`, ...headers } })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  return (await response.text())
    .split('\n\n')
    .filter((block) => block.startsWith('event:'))
    .map((block) => {
      const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/s.exec(block) ?? []
      return { event, data: JSON.parse(data) as unknown }
    })
}

describe('server-sent events', () => {
  test('a task tells each of its states, and ends with the last', async () => {
    sandbox.faults.set({ latency: { minMs: 300, maxMs: 400 } })
    const { body } = await enrich({ connector: 'hubspot', object: 'company', ids: [aCompany()] })
    const id = body.tasks[0]?.id ?? ''
    const events = await readEvents(`${house.url}/v1/tasks/${id}`, { accept: 'text/event-stream' })
    const states = events.map(({ data }) => (data as Task).status)
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['task']))
    expect(states).toContain('looking_up')
    expect(states.at(-1)).toBe('written')
    expect(states).toEqual([...new Set(states)])
  })

  test('a run tells its figures until it is closed', async () => {
    const { body } = await enrich({ connector: 'hubspot', object: 'company', ids: [aCompany()] })
    const [events, others] = await Promise.all([
      readEvents(`${house.url}${body.statusUrl}/events`),
      readEvents(`${house.url}${body.statusUrl}`, { accept: 'text/event-stream' }),
    ])
    for (const list of [events, others]) {
      expect(list.at(-1)?.data).toMatchObject({
        state: 'finished',
        tasks: { written: 1, queued: 0, looking_up: 0 },
        spend: { settled: '0.010000' },
      })
    }
  })
})
