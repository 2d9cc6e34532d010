import { describe, expect, test } from 'vitest'
import { performAction } from '../../src/app/actions/perform-action.ts'
import { planCall } from '../../src/app/service/plan-call.ts'
import { knownOfAccount } from '../../src/app/service/known-of-account.ts'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { openHouse } from '../support/house.ts'
import { useActions } from './actions.fixture.ts'
import { monitorFields, openReceiver } from './sandbox-monitors.fixture.ts'

const stage = useActions()
const { call, perform, monitors, sends, unfinished, created, cut } = stage

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
    const answers = await stage.context.database.db.selectFrom('lookups').select('answer').execute()
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
  await stage.context.spendSwitch.stop('a test')
  const before = sends('monitor_create')
  try {
    expect(await perform('monitor.create', monitorFields({ name: 'Stopped' }))).toMatchObject({
      state: 'parked',
    })
    expect(await unfinished()).toEqual(['monitor.create intent'])
    expect(sends('monitor_create')).toBe(before)
  } finally {
    await stage.context.spendSwitch.resume()
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
  const { db } = stage.context.database
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
  const other = await openHouse(stage.sandbox, {
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
    const before = stage.sandbox.stats().requests
    expect(await performAction(other.context, planned)).toMatchObject(stopped)
    const after = stage.sandbox.stats().requests
    expect(await performAction(other.context, planned)).toMatchObject(stopped)
    expect([after > before, stage.sandbox.stats().requests - after]).toEqual([true, 0])
  } finally {
    await other.close()
  }
})
