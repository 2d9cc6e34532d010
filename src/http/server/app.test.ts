import { expect, test } from 'vitest'
import { createApp } from './app.ts'
import { anyone, type Authenticator, type Caller } from './caller.ts'
import { route } from './route.ts'

const never = new Promise<never>(() => {})

function appOf(
  authenticator: Authenticator,
  handle: () => Promise<Response>,
  method: 'get' | 'post' = 'get',
) {
  return createApp({
    routes: [
      route({
        method,
        path: '/it',
        operationId: 'it',
        summary: 'It',
        authenticator,
        answers: {},
        handle,
      }),
    ],
    onAnswer: () => {},
    onRefused: async () => {},
    onError: () => {},
    stopping: new AbortController().signal,
    timeoutMs: 50,
  })
}

test.each([
  ['a handler', anyone, () => never],
  ['an authenticator', { security: ['x'], authenticate: () => never }, async () => Response.json({})],
] as [string, Authenticator, () => Promise<Response>][])(
  '%s that takes too long gives 503',
  async (_, authenticator, handle) => {
    const response = await appOf(authenticator, handle).request('/it')
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ code: 'timeout' })
  },
)

test('an authenticator that succeeds after the timeout runs no handler and releases the nonce', async () => {
  const opened = Promise.withResolvers<Caller>()
  const released = Promise.withResolvers<string>()
  let handled = 0
  const app = appOf({ security: ['x'], authenticate: () => opened.promise }, async () => {
    handled += 1
    return Response.json({})
  })
  expect((await app.request('/it')).status).toBe(503)
  opened.resolve({
    kind: 'system',
    name: 'hubspot',
    releaseNonce: async () => released.resolve('released'),
  })
  expect(await released.promise).toBe('released')
  expect(handled).toBe(0)
})
