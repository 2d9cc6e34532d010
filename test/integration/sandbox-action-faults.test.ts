import { describe, expect, test } from 'vitest'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { useSandbox } from './sandbox-fixture.ts'
import { countMonitors, createCaller, monitorFields } from './sandbox-monitors.fixture.ts'

const world = useSandbox()

const call = createCaller(() => world.sandbox.serviceUrl)
const count = () => countMonitors(call)

describe('an action', () => {
  test('whose answer is cut was done', async () => {
    const before = await count()
    world.sandbox.faults.set({ dropAfterAction: { next: 1, only: ['monitor_create'] } })
    // Neither a reading nor another action is hit.
    await call('GET', '/monitors')
    await call('POST', '/channel-templates/delete', { channel_template_id: [1] })
    await expect(call('POST', '/monitors', monitorFields({ name: 'Cut' }))).rejects.toThrow(
      /fetch failed|aborted/,
    )
    expect(await count()).toBe(before + 1)
    const { body } = await call('GET', '/monitors?per_page=1')
    expect(body.data['monitors']).toMatchObject([{ name: 'Cut' }])
  })

  test('that answers 500 was done, and one that is cut before was not', async () => {
    const before = await count()
    world.sandbox.faults.set({ errorAfterAction: { next: 1 } })
    expect((await call('POST', '/monitors', monitorFields())).status).toBe(500)
    expect(await count()).toBe(before + 1)
    world.sandbox.faults.set({ dropBeforeAction: { next: 1 } })
    await expect(call('POST', '/monitors', monitorFields())).rejects.toThrow(/fetch failed|aborted/)
    expect(await count()).toBe(before + 1)
  })

  test('that is slow is done between its two pauses, whether its caller waits or not', async () => {
    const before = await count()
    world.sandbox.faults.set({ slowAction: { next: 1, beforeMs: 100, afterMs: 60_000 } })
    const impatient = new AbortController()
    const asked = fetch(`${world.sandbox.serviceUrl}/monitors`, {
      method: 'POST',
      signal: impatient.signal,
      headers: {
        'user-agent': 'monitor-tests/1',
        'x-api-key': API_KEY,
        'content-type': 'application/json',
      },
      body: JSON.stringify(monitorFields()),
    })
    expect(await count()).toBe(before)
    await expect.poll(count, { timeout: 10_000 }).toBe(before + 1)
    impatient.abort()
    await expect(asked).rejects.toThrow(/fetch failed|aborted/)
    expect(await count()).toBe(before + 1)
  })

  test('that is refused uses no fault up', async () => {
    world.sandbox.faults.set({ dropAfterAction: { next: 1 } })
    expect((await call('POST', '/monitors', {})).status).toBe(400)
    expect(world.sandbox.faults.get().dropAfterAction.next).toBe(1)
  })
})
