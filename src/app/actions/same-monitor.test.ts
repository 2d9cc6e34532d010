import { describe, expect, test } from 'vitest'
import { candidatesFor, differingFields, unshownFields } from './same-monitor.ts'

const sent = { name: 'Spain', detection_mode: 'signal_first', signal_types: ['news', 'jobs'] }
const since = new Date('2026-11-22T12:00:00Z')
const shown = (change: object = {}) => ({
  monitor_id: 'm1',
  status: 'draft',
  created_at: '2026-11-22T12:00:01Z',
  ...sent,
  ...change,
})
const of = (...monitors: object[]) => {
  const { equal, alike, undated } = candidatesFor(sent, monitors as Record<string, unknown>[], {
    since,
    known: new Set(['known']),
    idName: 'monitor_id',
  })
  return { equal: equal.length, alike: alike.map(({ differs }) => differs.join()), undated: undated.length }
}
const none = { equal: 0, alike: [], undated: 0 }

describe('a monitor that a request may have created', () => {
  test.each<[string, object, ReturnType<typeof of>]>([
    ['as it was sent', shown(), { ...none, equal: 1 }],
    [
      'with its name trimmed and its lists in another order',
      shown({ name: ' Spain ', signal_types: ['jobs', 'news'] }),
      { ...none, equal: 1 },
    ],
    [
      'that shows less than was sent',
      shown({ signal_types: undefined }),
      { ...none, alike: ['signal_types'] },
    ],
    [
      'by a clock that is a little behind',
      shown({ created_at: '2026-11-22T11:58:00Z' }),
      { ...none, equal: 1 },
    ],
    ['of another name', shown({ name: 'Spain 2' }), none],
    ['that was there before', shown({ created_at: '2026-11-22T11:00:00Z' }), none],
    ['that another action has made', shown({ monitor_id: 'known' }), none],
    [
      'of the same name with another mode',
      shown({ detection_mode: 'company_first' }),
      { ...none, alike: ['detection_mode'] },
    ],
    ['that does not say when', shown({ created_at: undefined }), { ...none, undated: 1 }],
  ])('%s', (_, monitor, expected) => {
    expect(of(monitor)).toEqual(expected)
  })

  test('is one of several', () => {
    expect(of(shown(), shown({ monitor_id: 'm2' }), shown({ name: 'x' }))).toEqual({ ...none, equal: 2 })
  })
})

test('values of headers count where an update is compared, and are hidden where a creation is', () => {
  const headers = { webhook_headers: { 'X-Key': 'new' } }
  const monitor = { webhook_headers: { 'x-key': 'old' } }
  expect(differingFields(headers, monitor, { comparesHidden: false })).toEqual([])
  expect(differingFields(headers, monitor, { comparesHidden: true })).toEqual(['webhook_headers'])
  expect([differingFields(headers, {}, { comparesHidden: true }), unshownFields(headers, {})]).toEqual([
    [],
    ['webhook_headers'],
  ])
})

test('nothing, an empty list and an empty object are the same, and so are two spellings of an address', () => {
  const compare = (a: unknown, b: unknown) =>
    differingFields({ field: a }, { field: b }, { comparesHidden: true }).length === 0
  expect([compare([], null), compare({}, null), compare({ froms: [] }, {})]).toEqual([true, true, true])
  expect(compare('https://hooks.example', 'https://hooks.example/')).toBe(true)
  expect([
    compare('a', 'b'),
    compare(['a'], ['a', 'b']),
    compare({ a: 1 }, { a: 2 }),
    compare(0, null),
  ]).toEqual([false, false, false, false])
})
