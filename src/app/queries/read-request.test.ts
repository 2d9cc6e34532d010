import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { requestOf } from './read-request.ts'

test('a request is one line, in any pieces', async () => {
  const socket = new PassThrough()
  const line = requestOf(socket)
  for (const piece of ['{"query":', '"runs"}', '\n']) socket.write(piece)
  expect(await line).toBe('{"query":"runs"}\n')
})

test.each([
  ['behind its line', 'x\n', 'x\n'],
  ['beyond the longest request', 'x'.repeat(1_000_001), undefined],
])('nothing is kept of what a caller goes on sending %s', async (_, sent, line) => {
  const socket = new PassThrough()
  const read = requestOf(socket)
  socket.write(sent)
  expect(await read).toBe(line)
  expect(socket.listenerCount('data')).toBe(0)
  // It is read all the same, so that its end is noticed.
  socket.end('y'.repeat(1_000_000))
  await once(socket, 'end')
})

test('a caller that goes has no request', async () => {
  const socket = new PassThrough()
  const line = requestOf(socket)
  socket.write('half')
  socket.destroy()
  expect(await line).toBeUndefined()
})
