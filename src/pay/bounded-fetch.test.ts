import { afterEach, expect, test, vi } from 'vitest'
import { boundedFetch } from './bounded-fetch.ts'

afterEach(() => void vi.unstubAllGlobals())

test('an answer passes unchanged', async () => {
  vi.stubGlobal('fetch', async () => new Response('{"a":1}', { status: 418, headers: { 'x-a': 'b' } }))
  const response = await boundedFetch('http://node.example')
  expect([response.status, response.headers.get('x-a'), await response.json()]).toEqual([418, 'b', { a: 1 }])
})

test('an answer without an end is given up after 32 MB', async () => {
  let sent = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1_000_000
      controller.enqueue(new Uint8Array(1_000_000))
    },
  })
  vi.stubGlobal('fetch', async () => new Response(endless))
  await expect((await boundedFetch('http://node.example')).text()).rejects.toThrow('larger than 33554432')
  expect(sent).toBeLessThan(40_000_000)
})
