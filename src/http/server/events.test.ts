import { Hono } from 'hono'
import { afterEach, expect, test, vi } from 'vitest'
import { createEventStreams } from './events.ts'
import { problemResponse, type Problem } from './problem.ts'
import type { HttpEnv } from './request-id.ts'

type Begin = Parameters<ReturnType<typeof createEventStreams>['open']>[1]

/** One more than a process allows. */
const many = 501

afterEach(() => vi.restoreAllMocks())

function appOf(begin: Begin) {
  const streams = createEventStreams(new AbortController().signal)
  const app = new Hono<HttpEnv>()
  app.onError((error) => problemResponse(error as Problem, 'x'))
  app.get('/held', (context) => streams.open(context, () => () => {}))
  app.get('/', (context) => streams.open(context, begin))
  return app
}

test('the number of open streams is limited, and a stream that ends frees its slot', async () => {
  const app = appOf(() => () => {})
  const held = []
  for (let count = 1; count < many; count++) held.push(await app.request('/held'))
  expect((await app.request('/held')).status).toBe(503)
  await held[0]?.body?.cancel()
  expect((await app.request('/held')).status).toBe(200)
})

test('HEAD has the headers of a stream and takes no slot', async () => {
  const begin = vi.fn<Begin>(() => () => {})
  const app = appOf(begin)
  for (let count = 0; count < many; count++) {
    const { status, headers } = await app.request('/', { method: 'HEAD' })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  }
  expect(begin).not.toHaveBeenCalled()
  expect((await app.request('/held')).status).toBe(200)
})

test('a stream that fails to start frees its slot', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const app = appOf(() => {
    throw new Error('the ledger is away')
  })
  for (let count = 0; count < many; count++) expect(await (await app.request('/')).text()).toBe('')
  expect((await app.request('/held')).status).toBe(200)
})
