import { describe, expect, test } from 'vitest'
import { listActions } from '../../src/app/actions/list-actions.ts'
import { chargesText } from '../../src/app/service/own-charges.ts'
import { useActions } from './actions.fixture.ts'
import { monitorFields } from './sandbox-monitors.fixture.ts'

const stage = useActions()
const { call, perform, monitors, sends, unfinished, cut } = stage

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
      isSentNow: true,
      // The price of an answer that never came is the most that it may cost.
      charges: [{ state: 'settled', amountAtomic: 1_000_000n }],
      readings: [{ state: 'settled', operation: 'monitor.list' }],
    })
    const dear = end.readings.map((each) => ({ ...each, amountAtomic: 1_000_000n }))
    expect(chargesText([...end.charges, ...dear])).toBe(
      '1.000000 credits at most for monitor.create, 1.000000 credits paid for monitor.list',
    )
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
    expect(await listActions(stage.context)).toMatchObject([
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
    stage.sandbox.faults.set({ errorAfterAction: { next: 1, only: ['monitor_create'], status: 500 } })
    expect(await perform('monitor.create', monitorFields({ name: 'Failed' }))).toMatchObject({
      state: 'done',
      by: 'reading',
      // The service says that it failed and charged nothing.
      charges: [{ state: 'declined' }],
    })
    stage.sandbox.faults.set({ errorAfterAction: { next: 1, only: ['monitor_create'], status: 504 } })
    expect(await perform('monitor.create', monitorFields({ name: 'Gateway' }))).toMatchObject({
      state: 'done',
      charges: [{ state: 'settled' }],
    })
    expect([await monitors('Failed'), await monitors('Gateway')].map(({ length }) => length)).toEqual([1, 1])
  })

  test('stays in doubt beside another one that equals it, which is named', async () => {
    stage.sandbox.faults.set({ dropAfterAction: { next: 1, only: ['monitor_create'] } })
    // Two that are equal: ours, and one that somebody else makes at the same time.
    await call('POST', '/monitors', monitorFields({ name: 'Twin' })).catch(() => {})
    stage.sandbox.faults.set({ dropAfterAction: { next: 1, only: ['monitor_create'] } })
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
  stage.sandbox.faults.set({ slowAction: { next: 1, only: ['monitor_create'], beforeMs: 100, afterMs: 100 } })
  const ends = await Promise.all(
    [1, 2, 3].map(() => perform('monitor.create', monitorFields({ name: 'Raced' }), { settleMs: 5_000 })),
  )
  expect(ends.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
  expect(await monitors('Raced')).toHaveLength(1)
})
