import { describe, expect, test } from 'vitest'
import { ConfigError, RetriableError } from '../../../domain/errors.ts'
import { RefusedRequestError, classify, isPassing } from './api-error.ts'
import { NoAnswerError } from './transport.ts'

const failed = (status: number, errorCode: string, message = 'said jane@norvik.example', headers = {}) =>
  classify({
    error: new Error('as jsforce puts it'),
    request: 'GET /query',
    response: { statusCode: status, headers, body: JSON.stringify([{ errorCode, message }]) },
    nowMs: 0,
  })

describe('a failed request', () => {
  test.each([
    [403, 'REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.', 'salesforce_quota', 900_000],
    [403, 'REQUEST_LIMIT_EXCEEDED', 'ConcurrentRequests Limit exceeded.', 'salesforce_busy', 30_000],
  ])('%i %s (%s) delays the work and is no try', (status, code, message, ours, retryAfterMs) => {
    const error = failed(status, code, message)
    expect(error).toBeInstanceOf(RetriableError)
    expect(error).toMatchObject({ code: ours, retryAfterMs, countsAsTry: false })
    expect(isPassing(error)).toBe(false)
  })

  test.each([
    [500, 'UNKNOWN_EXCEPTION'],
    [503, 'ERROR_HTTP_503'],
    [503, 'SERVER_UNAVAILABLE'],
    [400, 'QUERY_TIMEOUT'],
    [429, 'ERROR_HTTP_429'],
  ])('%i %s may be sent again', (status, code) => {
    expect(isPassing(failed(status, code))).toBe(true)
  })

  test('waits for the time that the answer names', () => {
    expect(failed(503, 'X', 'x', { 'retry-after': '7' })).toMatchObject({ retryAfterMs: 7_000 })
  })

  test.each([
    [401, 'INVALID_SESSION_ID'],
    [403, 'API_DISABLED_FOR_ORG'],
    [403, 'INSUFFICIENT_ACCESS_OR_READONLY'],
    [410, 'UNSUPPORTED_API_VERSION'],
    [400, 'INVALID_TYPE'],
  ])('%i %s is for a person to correct', (status, code) => {
    expect(failed(status, code)).toBeInstanceOf(ConfigError)
  })

  test('anything else is refused for good, without the words that may quote a value', () => {
    const error = failed(400, 'JSON_PARSER_ERROR')
    expect(error).toBeInstanceOf(RefusedRequestError)
    expect(error).toMatchObject({ errorCode: 'JSON_PARSER_ERROR', said: 'said jane@norvik.example' })
    expect(`${error.message} ${JSON.stringify((error as RefusedRequestError).details)}`).not.toContain('jane')
  })

  test.each(['<html>', '', '[]', '{"error":"x"}'])('a body of %j has its status as code', (body) => {
    const response = { statusCode: 418, headers: {}, body }
    expect(classify({ error: new Error('x'), request: 'x', response, nowMs: 0 })).toMatchObject({
      errorCode: 'HTTP_418',
    })
  })

  test('without an answer it may be sent again', () => {
    const error = classify({ error: new NoAnswerError('gone'), request: 'x', response: undefined, nowMs: 0 })
    expect(isPassing(error)).toBe(true)
  })

  test('an error of ours stays what it is, and a fault of the program too', () => {
    const ours = new ConfigError('x', 'y')
    const fault = new TypeError('z')
    expect(classify({ error: ours, request: 'x', response: undefined, nowMs: 0 })).toBe(ours)
    expect(classify({ error: fault, request: 'x', response: undefined, nowMs: 0 })).toBe(fault)
  })
})
