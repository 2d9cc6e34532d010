import { describe, expect, test } from 'vitest'
import { creditsOf, warningsOf } from './metadata.ts'

describe('the credit block', () => {
  test.each([
    [
      'in metadata',
      { data: null, metadata: { profile: { credit: 9, topup_credit: 0, total_credit_cost: 1 } } },
    ],
    ['in data', { data: { peoples: [], profile: { credit: 9, topup_credit: 0, total_credit_cost: 1 } } }],
    ['as texts', { metadata: { profile: { credit: '9', topup_credit: '0', total_credit_cost: '1' } } }],
    [
      'in data, with another profile in metadata',
      {
        data: { profile: { credit: 9, topup_credit: 0, total_credit_cost: 1 } },
        metadata: { profile: { name: 'x' } },
      },
    ],
  ])('is found %s', (_, body) => {
    const credits = { credit: 9, topupCredit: 0, totalCreditCost: 1 }
    expect(creditsOf(JSON.stringify(body))).toEqual(credits)
    expect(creditsOf(body)).toEqual(credits)
  })

  test('states a cost of 0, and states none that is absent, null or not a number', () => {
    expect(creditsOf({ metadata: { profile: { total_credit_cost: 0 } } })).toEqual({ totalCreditCost: 0 })
    expect(creditsOf({ metadata: { profile: { credit: 3 } } })).toEqual({ credit: 3 })
    for (const cost of [null, 'free', {}, []]) {
      expect(creditsOf({ metadata: { profile: { credit: 3, total_credit_cost: cost } } })).toEqual({
        credit: 3,
      })
    }
  })

  test.each([
    '',
    'null',
    '[]',
    '7',
    '{',
    '{"data":7}',
    '{"data":{"profile":{"name":"x"}}}',
    '{"metadata":{"profile":[]}}',
  ])('is absent in %j', (body) => expect(creditsOf(body)).toBeUndefined())
})

describe('warnings about the keys of a request', () => {
  test.each([
    [
      { ignored_fields: ['a', 'b', 'a'] },
      [
        { kind: 'ignored', field: 'a' },
        { kind: 'ignored', field: 'b' },
      ],
    ],
    [{ ignored_fields: [] }, []],
    [{ ignored_fields: 'a' }, []],
    [{ ignored_fields: [1, null, 'a'] }, [{ kind: 'ignored', field: 'a' }]],
    [{ renamed_fields: ['a'] }, [{ kind: 'renamed', field: 'a' }]],
    [{ renamed_fields: { a: 'b' } }, [{ kind: 'renamed', field: 'a', to: 'b' }]],
    [{ renamed_fields: [{ from: 'a', to: 'b' }] }, [{ kind: 'renamed', field: 'a', to: 'b' }]],
    [
      { renamed_fields: [{ a: 'b' }, { c: 'd' }] },
      [
        { kind: 'renamed', field: 'a', to: 'b' },
        { kind: 'renamed', field: 'c', to: 'd' },
      ],
    ],
    [
      { ignored_fields: ['a'], renamed_fields: ['a'] },
      [
        { kind: 'ignored', field: 'a' },
        { kind: 'renamed', field: 'a' },
      ],
    ],
  ])('%j', (metadata, warnings) => {
    expect(warningsOf({ metadata })).toEqual(warnings)
    expect(warningsOf(JSON.stringify({ data: null, metadata }))).toEqual(warnings)
  })

  test('are empty without metadata', () => {
    for (const body of ['', '[]', 'null', '{"data":{}}', '{"metadata":[]}'])
      expect(warningsOf(body)).toEqual([])
  })
})
