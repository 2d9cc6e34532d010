import { describe, expect, test } from 'vitest'
import {
  BudgetExhaustedError,
  describeError,
  FatalError,
  PaydirtError,
  RetriableError,
  spendingStopped,
} from './errors.ts'

describe('an error of ours', () => {
  test('has the name of its class, a code, details and a cause', () => {
    const cause = new Error('below')
    const error = new FatalError('code', 'message', { details: { a: 1 }, cause })
    expect(error).toBeInstanceOf(PaydirtError)
    expect(error).toMatchObject({
      name: 'FatalError',
      code: 'code',
      message: 'message',
      details: { a: 1 },
      cause,
    })
    expect(new FatalError('code', 'message').details).toEqual({})
  })

  test('says when to try again, and whether that counts', () => {
    expect(new RetriableError('c', 'm')).toMatchObject({ retryAfterMs: undefined, countsAsTry: true })
    expect(new RetriableError('c', 'm', { retryAfterMs: 5, countsAsTry: false })).toMatchObject({
      retryAfterMs: 5,
      countsAsTry: false,
    })
  })

  test('says when a cap is lifted; a stop has no such time', () => {
    const resumesAt = new Date(0)
    expect(new BudgetExhaustedError('c', 'm', { resumesAt })).toMatchObject({ resumesAt })
    expect(spendingStopped()).toBeInstanceOf(BudgetExhaustedError)
    expect(spendingStopped()).toMatchObject({ code: 'stopped', resumesAt: undefined })
  })
})

test.each<[string, unknown, string]>([
  ['of ours', new FatalError('code', 'message'), 'code: message'],
  ['of another kind', new TypeError('broken'), 'broken'],
  [
    'of several',
    new AggregateError([new FatalError('code', 'first'), new Error('second')], 'both'),
    'code: first',
  ],
  ['of none', new AggregateError([], 'all failed'), 'all failed'],
  ['that has a list of its own', Object.assign(new Error('one'), { errors: [new Error('inner')] }), 'one'],
  ['that is a text', 'oops', 'oops'],
  ['that is nothing', undefined, 'undefined'],
])('an error %s is described in a line', (_, error, line) => {
  expect(describeError(error)).toBe(line)
})
