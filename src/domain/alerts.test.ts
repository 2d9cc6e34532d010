import { describe, expect, test } from 'vitest'
import { decideAlerts, type AlertState, type Standing } from './alerts.ts'

const now = new Date('2026-11-20T08:00:00Z')
const rules = { walletBelowAtomic: 5_000_000n, errorShare: 0.2, errorMinimum: 20, quietHours: 6 }
const well: AlertState = {
  wallet: { balanceAtomic: 9_000_000n },
  caps: [],
  recent: { ended: 100, failed: 1 },
  work: { dueSince: null, lastEndedAt: null },
  reconciliation: { at: now, differences: 0, differenceAtomic: 0n },
  schedules: [],
  contract: [],
}
const monitor = { differs: false, declared: 'active', readAt: now, status: 'active', detections: [] }
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000)
const decide = (state: Partial<AlertState>, standing: Standing[] = []) =>
  decideAlerts({ ...well, ...state }, standing, rules, now)

test.each<[string, Partial<AlertState>, string[]]>([
  ['all is well', {}, []],
  ['no wallet', { wallet: 'none' }, []],
  ['a low wallet', { wallet: { balanceAtomic: 4_999_999n } }, ['wallet_low/wallet']],
  ['a wallet at the limit', { wallet: { balanceAtomic: 5_000_000n } }, []],
  ['a wallet that cannot be read', { wallet: undefined }, []],
  ['a cap', { caps: [{ window: 'day', lookups: 3, resumesAt: now }] }, ['cap_reached/day']],
  ['errors', { recent: { ended: 20, failed: 4 } }, ['error_rate/records']],
  ['errors below the share', { recent: { ended: 20, failed: 3 } }, []],
  ['too few to tell', { recent: { ended: 19, failed: 19 } }, []],
  [
    'nothing for long',
    { work: { dueSince: hoursAgo(7), lastEndedAt: hoursAgo(6) } },
    ['nothing_written/work'],
  ],
  ['work that continues', { work: { dueSince: hoursAgo(7), lastEndedAt: hoursAgo(5) } }, []],
  ['work that is young', { work: { dueSince: hoursAgo(5), lastEndedAt: hoursAgo(40) } }, []],
  ['nothing ever', { work: { dueSince: hoursAgo(6), lastEndedAt: null } }, ['nothing_written/work']],
  ['no work', { work: { dueSince: null, lastEndedAt: hoursAgo(100) } }, []],
  [
    'a difference',
    { reconciliation: { at: now, differences: 1, differenceAtomic: -10_000n } },
    ['reconciliation_difference/ledger'],
  ],
  ['never reconciled', { reconciliation: 'none' }, []],
  [
    'a missed run',
    {
      schedules: [
        { schedule: 'nightly', entity: 'contacts', state: 'missed', plannedAt: now, reason: null },
        { schedule: 'nightly', entity: 'companies', state: 'handed_over', plannedAt: now, reason: null },
      ],
    },
    ['schedule_missed/nightly/contacts'],
  ],
  [
    'monitors that were stopped or changed there',
    {
      monitors: [
        { ...monitor, name: 'a', status: 'paused' },
        { ...monitor, name: 'b', status: null, differs: true },
        { ...monitor, name: 'c', status: 'paused', declared: 'paused' },
        { ...monitor, name: 'd', readAt: null, status: null },
        { ...monitor, name: 'e', detections: Array.from({ length: 9 }, (_, at) => hoursAgo(60 + at)) },
      ],
    },
    ['monitor_stopped/a', 'monitor_drift/b', 'monitor_stopped/b', 'monitor_silent/e'],
  ],
  [
    'answers that are not as expected, each operation once',
    {
      contract: [
        { operation: 'job.search', problem: 'data.pagination.total_entries: answers are without it' },
        { operation: 'news.search', problem: 'news.search is stopped: x' },
      ],
    },
    ['contract_drift/job.search', 'contract_drift/news.search'],
  ],
  ['observations that cannot be read', { contract: undefined }, []],
])('%s', (_, state, names) => {
  const { raise, end } = decide(state)
  expect(raise.map(({ condition, subject }) => `${condition}/${subject}`)).toEqual(names)
  expect(end).toEqual([])
})

describe('an open alert', () => {
  const low: Standing = { id: 1n, condition: 'wallet_low', subject: 'wallet' }
  const errors: Standing = { id: 2n, condition: 'error_rate', subject: 'records' }

  test('is not sent again, and ends once its condition is gone', () => {
    expect(decide({ wallet: { balanceAtomic: 0n } }, [low])).toEqual({ raise: [], end: [] })
    expect(decide({}, [low])).toEqual({
      raise: [],
      end: [{ id: 1n, message: 'the wallet has enough again' }],
    })
  })

  test('neither begins nor ends while its state is unknown', () => {
    expect(decide({ wallet: undefined }, [low])).toEqual({ raise: [], end: [] })
  })

  test('lasts until errors are half as many, so that it does not flap', () => {
    expect(decide({ recent: { ended: 100, failed: 11 } }, [errors])).toEqual({ raise: [], end: [] })
    expect(decide({ recent: { ended: 100, failed: 9 } }, [errors]).end).toHaveLength(1)
  })

  test('ends for one subject and begins for another', () => {
    const day: Standing = { id: 3n, condition: 'cap_reached', subject: 'day' }
    const { raise, end } = decide({ caps: [{ window: 'month', lookups: 1, resumesAt: null }] }, [day])
    expect(raise).toMatchObject([
      { subject: 'month', message: expect.stringContaining('until a person acts') },
    ])
    expect(end).toMatchObject([{ id: 3n }])
  })
})

describe('a finding', () => {
  const run = { schedule: 'nightly', entity: 'contacts', plannedAt: now }

  test.each<[string, Partial<AlertState>, 'warning' | 'critical']>([
    ['a low wallet', { wallet: { balanceAtomic: 1n } }, 'warning'],
    ['a cap', { caps: [{ window: 'day', lookups: 3, resumesAt: now }] }, 'warning'],
    ['errors', { recent: { ended: 20, failed: 4 } }, 'critical'],
    ['nothing written', { work: { dueSince: hoursAgo(7), lastEndedAt: null } }, 'critical'],
    ['a difference', { reconciliation: { at: now, differences: 1, differenceAtomic: 1n } }, 'critical'],
    ['a missed run', { schedules: [{ ...run, state: 'missed', reason: null }] }, 'warning'],
    ['a failed run', { schedules: [{ ...run, state: 'failed', reason: null }] }, 'critical'],
  ])('of %s has its severity', (_, state, severity) => {
    expect(decide(state).raise).toMatchObject([{ severity }])
  })

  test('distinguishes a failed run from one that did not begin, and says why', () => {
    const messageOf = (state: 'missed' | 'failed', reason: string | null) =>
      decide({ schedules: [{ ...run, state, reason }] }).raise[0]?.message
    expect(messageOf('failed', 'no such list')).toMatch(/ failed: no such list$/)
    expect(messageOf('missed', null)).toMatch(/ did not begin$/)
  })

  test('names the figures', () => {
    const messageOf = (state: Partial<AlertState>) => decide(state).raise[0]?.message
    expect(messageOf({ recent: { ended: 30, failed: 10 } })).toContain('10 of 30 records')
    expect(messageOf({ recent: { ended: 30, failed: 10 } })).toContain('(33 %)')
    expect(messageOf({ reconciliation: { at: now, differences: 2, differenceAtomic: -10_000n } })).toContain(
      '-0.010000',
    )
    expect(messageOf({ wallet: { balanceAtomic: 1n } })).toContain('0.000001')
  })
})
