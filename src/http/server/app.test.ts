import { expect, test } from 'vitest'
import { createApp } from './app.ts'
import { anyone, type Authenticator, type Caller } from './caller.ts'
import { route } from './route.ts'

const never = new Promise<never>(() => {})

function appOf(door: Authenticator, handle: () => Promise<Response>, method: 'get' | 'post' = 'get') {
  return createApp({
    routes: [
      route({
        method,
        path: '/it',
        operationId: 'it',
        summary: 'It',
        authenticator: door,
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
  ['a door', { security: ['x'], authenticate: () => never }, async () => Response.json({})],
] as [string, Authenticator, () => Promise<Response>][])(
  '%s that takes too long answers 503',
  async (_, door, handle) => {
    const response = await appOf(door, handle).request('/it')
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ code: 'timeout' })
  },
)

test('a door that opens after the time-out lets nobody in, and the signature may come again', async () => {
  const opened = Promise.withResolvers<Caller>()
  const givenBack = Promise.withResolvers<string>()
  let handled = 0
  const app = appOf({ security: ['x'], authenticate: () => opened.promise }, async () => {
    handled += 1
    return Response.json({})
  })
  expect((await app.request('/it')).status).toBe(503)
  opened.resolve({
    kind: 'system',
    name: 'hubspot',
    releaseNonce: async () => givenBack.resolve('given back'),
  })
  expect(await givenBack.promise).toBe('given back')
  expect(handled).toBe(0)
})
