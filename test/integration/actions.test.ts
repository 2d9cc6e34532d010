import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { performAction, type ActionOptions } from '../../src/app/actions/perform-action.ts'
import { listActions } from '../../src/app/actions/list-actions.ts'
import { knownOfAccount } from '../../src/app/service/known-of-account.ts'
import { planCall } from '../../src/app/service/plan-call.ts'
import type { Context } from '../../src/app/context/context.ts'
import { operations, type Operation } from '../../src/domain/words.ts'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse, type House } from '../support/house.ts'
import { createCaller, monitorFields, openReceiver } from './sandbox-monitors.fixture.ts'

let sandbox: Sandbox
let house: House
let context: Context
const call = createCaller(() => sandbox.serviceUrl)
const ours = operations.filter((each) => /^(monitor|template)/.test(each))
beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openHouse(sandbox, {
    env: { PAYDIRT_API_KEY: API_KEY },
    config: { payment: { maxPricesUsd: Object.fromEntries(ours.map((each) => [each, '0.01'])) } },
  })
  ;({ context } = house)
})
afterAll(async () => {
  await house?.close()
  await sandbox?.stop()
})
beforeEach(() => void sandbox.faults.reset())

/** With `settleMs` 0 a request counts as ended as soon as its connection has. */
async function perform(operation: Operation, body: Record<string, unknown>, options: ActionOptions = {}) {
  const known = await knownOfAccount(context, { asks: false })
  const planned = planCall(context.config, { operation, body, isUnchecked: true }, known)
  return performAction(context, planned, { settleMs: 0, ...options })
}
async function monitors(name: string) {
  const found = []
  for (let page = 1; ; page += 1) {
    const { body } = await call('GET', `/monitors?page=${page}`)
    const rows = body.data['monitors'] as { name: string; monitor_id: string; status: string }[]
    if (rows.length === 0) return found
    found.push(...rows.filter((each) => each.name === name))
  }
}
const sends = (name: string) => sandbox.stats().byEndpoint[name as never] ?? 0
const unfinished = async () =>
  (await listActions(context)).map(({ operation, state }) => `${operation} ${state}`)
const created = async (name: string) => {
  const end = await perform('monitor.create', monitorFields({ name }))
  return (end as { fact: { data: Record<string, { monitor_id: string }> } }).fact.data['data']!.monitor_id
}
const cut = (only: string, before = false) =>
  sandbox.faults.set({ [before ? 'dropBeforeAction' : 'dropAfterAction']: { next: 1, only: [only] } })

test('a monitor is created once', async () => {
  const end = await perform('monitor.create', monitorFields({ name: 'Plain' }))
  expect(end).toMatchObject({ state: 'done', by: 'answer', charges: [{ state: 'settled' }] })
  await expect(perform('monitor.create', monitorFields({ name: ' Plain' }))).rejects.toThrow(
    /was done on .*monitor_id .*--again/,
  )
  expect(await monitors('Plain')).toHaveLength(1)
  const again = await perform('monitor.create', monitorFields({ name: 'Plain' }), { again: true })
  expect([again.state, again.action.place]).toEqual(['done', 2])
  expect(await monitors('Plain')).toHaveLength(2)
  expect(await unfinished()).toEqual([])
})

describe('a monitor whose answer is missing', () => {
  test('is found by reading at once, and nothing is sent again', async () => {
    const before = sends('monitor_create')
    cut('monitor_create')
    const end = await perform(
      'monitor.create',
      monitorFields({ name: 'Cut', signal_types: ['jobs', 'news'] }),
    )
    expect(end).toMatchObject({
      state: 'done',
      by: 'reading',
      action: { state: 'done', place: 1 },
      // The price of an answer that never came is the most that it may cost.
      charges: [{ state: 'settled', amountAtomic: 1_000_000n }],
    })
    expect(sends('monitor_create') - before).toBe(1)
    await expect(
      perform('monitor.create', monitorFields({ name: 'Cut', signal_types: ['news', 'jobs'] })),
    ).rejects.toThrow(/was done on/)
    expect(await monitors('Cut')).toHaveLength(1)
  })

  test('is sent once more after the wait when it was not created', async () => {
    const before = sends('monitor_create')
    cut('monitor_create', true)
    const first = await perform('monitor.create', monitorFields({ name: 'Lost' }), { settleMs: 60_000 })
    expect(first).toMatchObject({
      state: 'in_doubt',
      reason: expect.stringMatching(/no monitor of this name was created since/) as string,
      charges: [{ state: 'in_doubt' }],
    })
    expect(await listActions(context)).toMatchObject([
      {
        operation: 'monitor.create',
        state: 'in_doubt',
        todo: expect.stringMatching(/same call reads/) as string,
      },
    ])
    expect(sends('monitor_create') - before).toBe(1)
    const waits: Date[] = []
    const second = await perform('monitor.create', monitorFields({ name: 'Lost' }), {
      settleMs: Date.now() - first.action.sentAt!.getTime() + 1_000,
      onWait: (until) => waits.push(until),
    })
    expect(waits).toHaveLength(1)
    expect(second).toMatchObject({
      state: 'done',
      by: 'answer',
      action: { place: 1, id: first.action.id },
      charges: [{ state: 'declined' }, { state: 'settled' }],
    })
    expect(sends('monitor_create') - before).toBe(2)
    expect([await monitors('Lost'), await unfinished()]).toMatchObject([[{ name: 'Lost' }], []])
  })

  test('is not made twice by a server that fails after the change, in its own form or not', async () => {
    sandbox.faults.set({ errorAfterAction: { next: 1, only: ['monitor_create'], status: 500 } })
    expect(await perform('monitor.create', monitorFields({ name: 'Failed' }))).toMatchObject({
      state: 'done',
      by: 'reading',
      // The service says that it failed and charged nothing.
      charges: [{ state: 'declined' }],
    })
    sandbox.faults.set({ errorAfterAction: { next: 1, only: ['monitor_create'], status: 504 } })
    expect(await perform('monitor.create', monitorFields({ name: 'Gateway' }))).toMatchObject({
      state: 'done',
      charges: [{ state: 'settled' }],
    })
    expect([await monitors('Failed'), await monitors('Gateway')].map(({ length }) => length)).toEqual([1, 1])
  })

  test('stays in doubt beside another one that equals it, which is named', async () => {
    sandbox.faults.set({ dropAfterAction: { next: 1, only: ['monitor_create'] } })
    // Two that are equal: ours, and one that somebody else makes at the same time.
    await call('POST', '/monitors', monitorFields({ name: 'Twin' })).catch(() => {})
    sandbox.faults.set({ dropAfterAction: { next: 1, only: ['monitor_create'] } })
    const end = await perform('monitor.create', monitorFields({ name: 'Twin' }))
    const ids = (await monitors('Twin')).map(({ monitor_id: id }) => id)
    expect(end).toMatchObject({
      state: 'in_doubt',
      reason: expect.stringContaining(ids.join(', ')) as string,
    })
    const again = await perform('monitor.create', monitorFields({ name: 'Twin' }), { again: true })
    expect(again).toMatchObject({ state: 'done', by: 'answer', action: { place: 2 } })
    expect(await monitors('Twin')).toHaveLength(3)
    expect(await unfinished()).toEqual([])
  })

  test('stays in doubt beside one of its name that is not as it was sent', async () => {
    await call('POST', '/monitors', monitorFields({ name: 'Alike', signal_types: ['news'] }))
    cut('monitor_create', true)
    expect(await perform('monitor.create', monitorFields({ name: 'Alike' }))).toMatchObject({
      state: 'in_doubt',
      reason: expect.stringMatching(/not as it was sent: \S+ \(signal_types\)/) as string,
    })
    expect(await perform('monitor.create', monitorFields({ name: 'Alike' }), { again: true })).toMatchObject({
      state: 'done',
    })
  })

  test('is found behind pages of others', async () => {
    for (let index = 0; index < 26; index += 1)
      await call('POST', '/monitors', monitorFields({ name: `Page ${index}` }))
    cut('monitor_create')
    const end = perform('monitor.create', monitorFields({ name: 'Behind' }))
    expect(await end).toMatchObject({ state: 'done', by: 'reading' })
    cut('monitor_create', true)
    expect(await perform('monitor.create', monitorFields({ name: 'Not there' }))).toMatchObject({
      state: 'in_doubt',
    })
    expect(await perform('monitor.create', monitorFields({ name: 'Not there' }))).toMatchObject({
      state: 'done',
    })
  })
})

test('two processes with one order make one monitor', async () => {
  sandbox.faults.set({ slowAction: { next: 1, only: ['monitor_create'], beforeMs: 100, afterMs: 100 } })
  const ends = await Promise.all(
    [1, 2, 3].map(() => perform('monitor.create', monitorFields({ name: 'Raced' }), { settleMs: 5_000 })),
  )
  expect(ends.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
  expect(await monitors('Raced')).toHaveLength(1)
})

describe('an update or a creation', () => {
  test('without an answer is compared, and sent again only where the monitor differs', async () => {
    const id = await created('Updated')
    const pause = () => perform('monitor.update', { monitor_id: id, status: 'paused' })
    cut('monitor_update')
    expect(await pause()).toMatchObject({ state: 'done', by: 'reading' })
    const before = sends('monitor_update')
    cut('monitor_update', true)
    const name = { monitor_id: id, name: 'Renamed' }
    expect(await perform('monitor.update', name)).toMatchObject({
      state: 'in_doubt',
      reason: expect.stringContaining('another name') as string,
    })
    expect(await perform('monitor.update', name)).toMatchObject({ state: 'done', by: 'answer' })
    expect(sends('monitor_update') - before).toBe(2)
    expect(await monitors('Renamed')).toMatchObject([{ status: 'paused' }])
    // The same order later is another one: somebody may have changed it in between.
    expect(await perform('monitor.update', name)).toMatchObject({ state: 'done', action: { place: 2 } })
  })

  test('that is refused was not done, and says why by its code', async () => {
    const end = await perform('monitor.create', monitorFields({ name: 'long '.repeat(41) }))
    expect(end).toMatchObject({
      state: 'refused',
      reason: expect.stringContaining(
        'name must be a text of at most 200 characters (400, code 40022)',
      ) as string,
      charges: [{ state: 'declined' }],
    })
    expect(await unfinished()).toEqual([])
  })
})

describe('a deletion', () => {
  test('without an answer is done when the monitor is in no list any more', async () => {
    const [first, second] = [await created('Deleted'), await created('Kept')]
    cut('monitor_delete')
    expect(await perform('monitor.delete', { monitor_id: first })).toMatchObject({
      state: 'done',
      by: 'reading',
    })
    cut('monitor_delete', true)
    expect(await perform('monitor.delete', { monitor_id: second })).toMatchObject({
      state: 'in_doubt',
      reason: expect.stringContaining('still there') as string,
    })
    expect(await perform('monitor.delete', { monitor_id: second })).toMatchObject({
      state: 'done',
      by: 'answer',
    })
    expect([...(await monitors('Deleted')), ...(await monitors('Kept'))]).toEqual([])
  })
})

describe('an action without a reading', () => {
  test('says what a person can do, and a template keeps none of its parameters', async () => {
    const { body } = await call('GET', '/channel-templates/types')
    const [type] = body.data['types'] as { channel_node_id: string; channel_type_slug: string }[]
    const template = {
      channel_node_id: type!.channel_node_id,
      channel_type_slug: type!.channel_type_slug,
      name: 'Doubtful',
      parameters: { subject: 'a very own subject', body: 'a very own text' },
    }
    cut('template_create')
    expect(await perform('template.create', template)).toMatchObject({
      state: 'in_doubt',
      advice: expect.stringMatching(/no reading shows the templates.*--again makes another one/) as string,
      action: { body: { name: 'Doubtful', parameters: { subject: '(not kept)', body: '(not kept)' } } },
    })
    expect((await perform('template.create', template)).state).toBe('in_doubt')
    expect(await perform('template.create', template, { again: true })).toMatchObject({ state: 'done' })
    await expect(perform('template.create', template)).rejects.toThrow(/was done on/)
    const answers = await context.database.db.selectFrom('lookups').select('answer').execute()
    expect(JSON.stringify(answers)).not.toContain('a very own')
    expect(await unfinished()).toEqual([])
  })

  test('stays in doubt until it is sent again on purpose', async () => {
    const receiver = await openReceiver()
    try {
      const end = await perform(
        'monitor.create',
        monitorFields({ name: 'Tested', status: 'active', webhook_url: receiver.url }),
      )
      const { monitor_id: id } = (await monitors('Tested'))[0]!
      expect(end.state).toBe('done')
      cut('monitor_test')
      const doubt = { state: 'in_doubt', advice: expect.stringMatching(/--again sends another/) as string }
      expect(await perform('monitor.test', { monitor_id: id })).toMatchObject(doubt)
      expect(await perform('monitor.test', { monitor_id: id })).toMatchObject(doubt)
      expect(receiver.take()).toHaveLength(1)
      expect(await perform('monitor.test', { monitor_id: id }, { again: true })).toMatchObject({
        state: 'done',
        action: { place: 2 },
      })
      expect(receiver.take()).toHaveLength(1)
      expect(await unfinished()).toEqual([])
    } finally {
      await receiver.close()
    }
  })
})

test('an order to stop holds for actions, and nothing was sent', async () => {
  await context.spendSwitch.stop('a test')
  const before = sends('monitor_create')
  try {
    expect(await perform('monitor.create', monitorFields({ name: 'Stopped' }))).toMatchObject({
      state: 'parked',
    })
    expect(await unfinished()).toEqual(['monitor.create intent'])
    expect(sends('monitor_create')).toBe(before)
  } finally {
    await context.spendSwitch.resume()
  }
  expect(await perform('monitor.create', monitorFields({ name: 'Stopped' }))).toMatchObject({ state: 'done' })
  expect(await monitors('Stopped')).toHaveLength(1)
})

test('no header of a webhook reaches the ledger', async () => {
  const secret = 'pass-phrase-4711'
  const fields = {
    name: 'Secret',
    webhook_url: `https://hooks.example/services/${secret}`,
    webhook_headers: { 'x-secret': secret },
  }
  cut('monitor_create')
  expect(await perform('monitor.create', monitorFields(fields))).toMatchObject({
    state: 'done',
    by: 'reading',
  })
  const tables = ['service_actions', 'lookups', 'charges'] as const
  const { db } = context.database
  const texts = await Promise.all(
    tables.map(async (table) =>
      JSON.stringify(await db.selectFrom(table).selectAll().execute(), (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    ),
  )
  const [actions, lookups, charges] = texts.map((text) => text.split(secret).length - 1)
  expect({ actions, charges, headers: texts.join('').includes(`"x-secret":"${secret}"`) }).toEqual({
    actions: 1,
    charges: 0,
    headers: false,
  })
  expect(lookups).toBeGreaterThan(0)
})

test('an operation that the service does not have is stopped alone, and its actions wait for a person', async () => {
  const types = await perform('template.delete', { channel_template_id: [1] }).catch(
    (error: unknown) => error,
  )
  expect(types).toMatchObject({ state: 'done' })
  const other = await openHouse(sandbox, {
    env: { PAYDIRT_API_KEY: API_KEY },
    config: {
      payment: { maxPricesUsd: { 'monitor.create': '0.01' } },
      service: { operations: { 'monitor.create': { path: '/no-monitors' } } },
    },
  })
  try {
    const known = await knownOfAccount(other.context, { asks: false })
    const body = monitorFields({ name: 'Nowhere' })
    const planned = planCall(
      other.context.config,
      { operation: 'monitor.create', body, isUnchecked: true },
      known,
    )
    const stopped = {
      state: 'parked',
      reason: expect.stringMatching(/answers 404.*`paydirt service retry monitor.create`/) as string,
      action: { state: 'intent' },
    }
    const before = sandbox.stats().requests
    expect(await performAction(other.context, planned)).toMatchObject(stopped)
    const after = sandbox.stats().requests
    expect(await performAction(other.context, planned)).toMatchObject(stopped)
    expect([after > before, sandbox.stats().requests - after]).toEqual([true, 0])
  } finally {
    await other.close()
  }
})
