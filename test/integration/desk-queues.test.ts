import { expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { queueBoard } from '../../src/http/desk/routes/queue-board.ts'
import { createQueueBoard } from '../../src/queues/board.ts'
import { openRedis } from '../../src/queues/connection.ts'
import { createQueues } from '../../src/queues/queues.ts'
import { Hono } from 'hono'
import { freshStores } from '../support/stores.ts'

test('the board shows jobs without whom they are about, and changes nothing for who may only look', async () => {
  const stores = await freshStores()
  const connection = await openRedis(stores.redisUrl)
  const settings = { prefix: stores.redisPrefix, onError: () => {} }
  const queues = createQueues(connection.redis, settings)
  const board = createQueueBoard(connection.redis, settings)
  try {
    const mount = (mayAct: boolean) =>
      new Hono().all(
        '*',
        queueBoard(board)(mayAct, async () => ({
          theme: 'dark',
          head: '<!-- head -->',
          body: '<!-- bar -->',
        })),
      )
    const [looking, acting] = [mount(false), mount(true)]
    const jane = 'contact.lookup|jane.doe@acme.test' as LookupKey
    await queues.addLookups('background', [jane])

    const listed = await (
      await looking.request('/queues/api/queues?activeQueue=lookup&status=waiting')
    ).text()
    expect(listed).toContain('contact.lookup|#')
    expect(listed).not.toMatch(/jane|acme/)
    const { queues: shown } = JSON.parse(listed) as { queues: { name: string; jobs: { id: string }[] }[] }
    const jobs = shown.find(({ name }) => name === 'lookup')?.jobs ?? []
    const one = await (await looking.request(`/queues/api/queues/lookup/${jobs[0]?.id}`)).text()
    expect(one).toContain('contact.lookup|#')
    expect(one).not.toMatch(/jane|acme/)
    expect(await board.depths()).toContainEqual({ name: 'lookup', waiting: 1, active: 0, delayed: 0 })

    // Lookups that were put together are a job of another queue; they are counted as lookups.
    const john = ['contact.lookup|john.doe@acme.test', 'contact.lookup|jack.doe@acme.test'] as LookupKey[]
    await queues.addLookups('background', john, 1_000)
    const together = await (
      await looking.request('/queues/api/queues?activeQueue=lookup-block&status=waiting')
    ).text()
    expect(together.match(/contact\.lookup\|#/g)).toHaveLength(2)
    expect(together).not.toMatch(/john|jack|acme/)
    expect(await board.depths()).toContainEqual({ name: 'lookup', waiting: 3, active: 0, delayed: 0 })

    const empty = { method: 'PUT' }
    expect((await acting.request('/queues/api/queues/lookup-block/empty', empty)).status).toBe(200)
    expect((await looking.request('/queues/api/queues/lookup/empty', empty)).status).toBe(405)
    expect(await queues.countLookups('background')).toBe(1)
    expect((await acting.request('/queues/api/queues/lookup/empty', empty)).status).toBe(200)
    expect(await queues.countLookups('background')).toBe(0)

    const page = await (await looking.request('/queues')).text()
    expect(page).not.toMatch(/href="https?:|src="https?:|<style|\sstyle="/)
    expect(page).toContain('<!-- bar --></body>')
    expect(page).toContain('<html data-theme="dark" ')
  } finally {
    await board.close()
    await queues.close()
    await connection.close()
    await stores.cleanup()
  }
})
