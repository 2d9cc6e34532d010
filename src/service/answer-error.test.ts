import { describe, expect, test } from 'vitest'
import { answerError } from './answer-error.ts'

const answer = (status: number, body: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body,
})
const refusal = (code: number) =>
  JSON.stringify({ code, message: 'profnet_url of Ada Moreau is wrong', details: {} })

describe('an answer that is neither a success nor a challenge becomes an error whose class says what to do next', () => {
  test.each<[status: number, body: string, name: string, code: string]>([
    [400, refusal(40001), 'FatalError', 'bad_request'],
    [400, refusal(41847), 'FatalError', 'bad_request'],
    [400, 'not json', 'FatalError', 'bad_request'],
    [400, 'null', 'FatalError', 'bad_request'],
    [401, '{}', 'AccessRefusedError', 'unauthorized'],
    [403, 'error code: 1010', 'ConfigError', 'user_agent_blocked'],
    [403, '{}', 'AccessRefusedError', 'forbidden'],
    [404, '{}', 'AccessRefusedError', 'no_such_endpoint'],
    [408, '', 'RetriableError', 'not_in_time'],
    [416, refusal(41675), 'FatalError', 'over_quota'],
    [418, '', 'FatalError', 'unexpected_status'],
    [429, '{"error":"Rate limit exceeded"}', 'RetriableError', 'rate_limited'],
    [500, '{"error":"Unexpected"}', 'RetriableError', 'service_error'],
    [502, '<html>', 'RetriableError', 'service_error'],
    [503, '', 'RetriableError', 'service_error'],
    [301, '', 'FatalError', 'unexpected_status'],
    [204, '', 'RetriableError', 'no_answer_yet'],
  ])('%i %s: %s %s', (status, body, name, code) => {
    const error = answerError(answer(status, body))
    expect(error).toMatchObject({ name, code, details: { status } })
    // The service's own text may name a person.
    expect(error.message).not.toContain('Ada')
    expect(JSON.stringify(error.details)).not.toContain('Ada')
  })

  test('a 400 names its code, and the most common one in words', () => {
    expect(answerError(answer(400, refusal(41847))).message).toContain(
      'a parameter is missing (400, code 41847)',
    )
    expect(answerError(answer(400, refusal(40020))).message).toContain('code 40020')
    expect(answerError(answer(400, '{}')).message).toContain('not given')
    expect(answerError(answer(416, refusal(41692))).message).toContain('41692')
  })

  test.each<[endpoint: string, body: string, name: string]>([
    [
      'GET https://s.example/monitors/{monitor_id}',
      '{"error":"Monitor not found","code":40020}',
      'FatalError',
    ],
    [
      'GET https://s.example/monitors/{monitor_id}',
      '{"message":"Cannot GET /monitors/x","statusCode":404}',
      'AccessRefusedError',
    ],
    [
      'GET https://s.example/monitors/{monitor_id}',
      '{"message":"not found","code":404}',
      'AccessRefusedError',
    ],
    ['GET https://s.example/monitors/{monitor_id}', '<html>', 'AccessRefusedError'],
    [
      'POST https://s.example/jobs/search',
      '{"error":"Monitor not found","code":40020}',
      'AccessRefusedError',
    ],
  ])(
    'a 404 to %s with %s is a %s: only the service knows that a thing is not there',
    (endpoint, body, name) => {
      const error = answerError(answer(404, body), { endpoint })
      expect(error).toMatchObject({ name, details: { status: 404 } })
      if (name === 'FatalError') expect(error.message).toContain('Monitor not found (404, code 40020)')
    },
  )

  test('only a 429 does not count as an attempt, and it may say how long to wait', () => {
    expect(answerError(answer(429, ''))).toMatchObject({ countsAsTry: false, retryAfterMs: undefined })
    expect(answerError(answer(429, '', { 'retry-after': '3' }))).toMatchObject({ retryAfterMs: 3000 })
    for (const status of [408, 500, 503])
      expect(answerError(answer(status, ''))).toMatchObject({ countsAsTry: true })
  })

  test.each([
    ['name must be a text of at most 200 characters', true],
    ['no monitor has this monitor_id', true],
    ['Status must be one of draft, active, paused', true],
    ['the name "Ada Moreau" is taken', false],
    ['the name Ada Moreau is taken', false],
    ['ada@example.com gets this already', false],
    ['call 0123456789', false],
    [`a ${'very '.repeat(40)}long one`, false],
  ])('a refusal of a monitor quotes the service where that can name nobody: %s', (message, isQuoted) => {
    const error = answerError(answer(400, JSON.stringify({ code: 40022, message, details: {} })))
    expect(error.message.includes(message)).toBe(isQuoted)
    expect(error.message).toContain('(400, code 40022)')
  })

  test('the one code of monitors with a known meaning is said in words', () => {
    expect(answerError(answer(400, refusal(40021))).message).toContain('detection_mode cannot change')
  })
})
