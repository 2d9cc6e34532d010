import { describe, expect, test } from 'vitest'
import { ConfigError, RetriableError } from '../../../domain/errors.ts'
import type { HubspotResponse } from './http.ts'
import { createTokens } from './tokens.ts'

const oauth = { clientId: 'id', clientSecret: 'secret', refreshToken: 'refresh' }

/** A token endpoint that answers on command, with tokens t1, t2 ... */
function endpoint(answer: Partial<HubspotResponse> = {}) {
  const waiting: (() => void)[] = []
  let requests = 0
  return {
    requests: () => requests,
    answerAll: () => {
      for (const answerOne of waiting.splice(0)) answerOne()
    },
    send: async (): Promise<HubspotResponse> => {
      requests += 1
      const body = { access_token: `t${requests}`, expires_in: 1800 }
      await new Promise<void>((resolve) => waiting.push(resolve))
      return { status: 200, headers: new Headers(), body, ...answer }
    },
  }
}

describe('OAuth tokens', () => {
  test('are requested once for all callers that wait, and kept until shortly before their expiry', async () => {
    let nowMs = 0
    const service = endpoint()
    const tokens = createTokens({ oauth }, { send: service.send, timeoutMs: 1000, now: () => nowMs })
    const all = Promise.all([tokens.current(), tokens.current(), tokens.current()])
    service.answerAll()
    expect(await all).toEqual(['t1', 't1', 't1'])
    nowMs = 1_739_999
    expect(await tokens.current()).toBe('t1')
    nowMs = 1_740_000
    const next = tokens.current()
    service.answerAll()
    expect(await next).toBe('t2')
    expect(service.requests()).toBe(2)
  })

  test('are renewed once for all calls that were refused with the same one', async () => {
    const service = endpoint()
    const tokens = createTokens({ oauth }, { send: service.send, timeoutMs: 1000, now: () => 0 })
    const first = tokens.current()
    service.answerAll()
    await first
    const both = Promise.all([tokens.replace('t1'), tokens.replace('t1')])
    service.answerAll()
    expect(await both).toEqual(['t2', 't2'])
    // A call that was sent with the old token and refused late takes the new token.
    expect(await tokens.replace('t1')).toBe('t2')
    expect(service.requests()).toBe(2)
  })

  test.each([
    [{ status: 400, body: { status: 'BAD_REFRESH_TOKEN' } }, ConfigError],
    [{ status: 401, body: {} }, ConfigError],
    [{ status: 429, body: {} }, RetriableError],
    [{ status: 503, body: undefined }, RetriableError],
    [{ status: 200, body: { token: 'x' } }, RetriableError],
  ])(
    'that are not renewed by %o are an error that says what to do, and asked for again later',
    async (answer, kind) => {
      const service = endpoint(answer)
      const tokens = createTokens({ oauth }, { send: service.send, timeoutMs: 1000, now: () => 0 })
      for (const round of [1, 2]) {
        const failing = tokens.current()
        service.answerAll()
        const error = await failing.catch((error: unknown) => error)
        expect(error).toBeInstanceOf(kind)
        expect(String(error)).not.toMatch(/secret['"]|refresh['"]/)
        expect(service.requests()).toBe(round)
      }
    },
  )
})

test('an access token that is refused cannot be replaced', async () => {
  const tokens = createTokens({ accessToken: 'pat' }, { send: endpoint().send, timeoutMs: 1, now: () => 0 })
  expect(await tokens.current()).toBe('pat')
  await expect(tokens.replace('pat')).rejects.toThrow(ConfigError)
})
