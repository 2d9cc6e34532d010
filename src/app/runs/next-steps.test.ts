import { describe, expect, test } from 'vitest'
import type { Run } from '../../store/runs/runs.ts'
import { nextSteps } from './next-steps.ts'

const tasks = { written: 0, unchanged: 0, skipped: 0, rejected: 0, parked: 0 }
const run: Run = {
  id: 'r1',
  connector: 'hubspot',
  object: 'person',
  entity: 'contacts',
  recipe: 'contact',
  trigger: 'sync',
  state: 'stopped',
  fingerprint: '',
  source: {},
  watermark: null,
  scannedAt: null,
  records: 0,
  startedAt: new Date(0),
  finishedAt: null,
  closed: null,
}
const stepsOf = (
  change: Partial<Run>,
  { schedule = null, inDoubt = '0.000000', waiting = [], written = 0 }: Partial<Options> = {},
) =>
  nextSteps({
    run: { ...run, ...change },
    summary: {
      tasks: { ...tasks, written },
      spend: { currency: 'USD', settled: '0.000000', inDoubt, lost: '0.000000' },
    },
    waiting,
    schedule,
  })
interface Options {
  schedule: string | null
  inDoubt: string
  waiting: { code: string; reason: string; records: number; resumesAt: Date | null }[]
  written: number
}

describe('what to do next', () => {
  test('is the very command of a sync that stopped, quoted for a shell', () => {
    const filter = [
      { property: 'lifecyclestage', is: 'equal', value: "it's a lead" },
      { property: 'domain', is: 'blank' },
      { property: 'city', is: 'filled' },
      { property: 'zip', is: 'different', value: '1' },
    ]
    const source = { since: '2026-11-01T00:00:00.000Z', limit: 50, filter }
    expect(stepsOf({ source })).toEqual([
      "`paydirt sync hubspot --object contacts --recipe contact --since 2026-11-01T00:00:00.000Z --limit 50 --filter 'lifecyclestage=it'\\''s a lead' --filter domain= --filter 'city!=' --filter 'zip!=1'` continues it",
    ])
    expect(stepsOf({ source: { since: null, limit: null, filter: [], refresh: true } })).toEqual([
      '`paydirt sync hubspot --object contacts --recipe contact --refresh` continues it',
    ])
  })

  test.each([
    [
      'csv',
      { connector: 'csv', trigger: 'csv', entity: 'person', source: { path: '/a b/leads.csv' } },
      "`paydirt csv '/a b/leads.csv' --object person --recipe contact --out OUT` continues it",
    ],
    [
      'csv with its options',
      {
        connector: 'csv',
        trigger: 'csv',
        entity: 'person',
        source: {
          path: '/leads.csv',
          told: { map: { profileUrl: 'LinkedIn URL' }, encoding: 'windows-1252', out: 'a b.csv' },
        },
      },
      "`paydirt csv /leads.csv --object person --recipe contact --map 'profile=LinkedIn URL' --encoding windows-1252 --out 'a b.csv'` continues it",
    ],
    [
      "a file's plan",
      {
        connector: 'csv',
        trigger: 'csv',
        source: { path: '/leads.csv', told: { plan: 'p1', out: 'x.csv' } },
      },
      '`paydirt apply p1 --out x.csv` continues it',
    ],
    ['a plan', { connector: 'csv', trigger: 'apply' }, '`paydirt apply PLAN` again'],
    ['the desk', { trigger: 'request' }, '`paydirt start` continues it'],
    ['a command at work', { state: 'working' as const }, 'it is at work'],
  ])('names how a run of %s goes on', (_, change, step) => {
    expect(stepsOf(change)).toEqual([expect.stringContaining(step)])
  })

  test('of a schedule is its next window, or a person where it failed', () => {
    expect(stepsOf({ trigger: 'schedule' }, { schedule: 'nightly' })[0]).toContain(
      '`paydirt schedules run nightly`',
    )
    expect(stepsOf({ trigger: 'schedule', state: 'failed' }, { schedule: 'nightly' })[0]).toContain(
      'the next planned time of nightly tries again',
    )
  })

  test('of records that only a retry takes up is that retry, and nothing that would not do it', () => {
    const waiting = [{ code: 'price', reason: 'dear', records: 3, resumesAt: null }]
    const retry = [expect.stringContaining('retry its parked records on the desk')]
    for (const trigger of ['request', 'button', 'monitor'])
      expect(stepsOf({ trigger, state: 'parked' }, { waiting })).toEqual(retry)
    expect(stepsOf({ trigger: 'schedule', state: 'parked' }, { waiting, schedule: 'leads' })).toEqual(retry)
    // The command that began a run tries all of its records again.
    expect(stepsOf({ trigger: 'sync', state: 'parked' }, { waiting })).toEqual([
      expect.stringContaining('paydirt sync'),
    ])
  })

  test('names what ends the wait of parked records, each once', () => {
    const resumesAt = new Date('2026-11-23T00:00:00Z')
    const group = (code: string, at: Date | null) => ({ code, reason: code, records: 1, resumesAt: at })
    const waiting = [
      group('budget_day', resumesAt),
      group('budget_run', null),
      group('wallet_empty', null),
      group('wallet_empty', null),
      group('stopped', null),
      group('unreachable', resumesAt),
    ]
    expect(stepsOf({ state: 'parked' }, { waiting, inDoubt: '0.010000' })).toEqual([
      expect.stringContaining('`paydirt reconcile`'),
      'wait until 2026-11-23 00:00 UTC, or raise PAYDIRT_BUDGET_DAY_USD: the budget of the day is used up',
      expect.stringContaining('raise PAYDIRT_BUDGET_RUN_USD'),
      expect.stringContaining('`paydirt wallet address`'),
      expect.stringContaining('`paydirt spend --resume`'),
      'wait until 2026-11-23 00:00 UTC',
      expect.stringContaining('paydirt sync'),
    ])
  })

  test('of a finished run are its report and its undo, where there is something to put back', () => {
    expect(stepsOf({ state: 'finished' }, { written: 3 })).toEqual([
      expect.stringContaining('`paydirt report r1`'),
      expect.stringContaining('`paydirt undo r1 --plan`'),
    ])
    expect(stepsOf({ state: 'finished', connector: 'csv' }, { written: 3 })).toHaveLength(1)
    expect(stepsOf({ state: 'finished' })).toEqual([])
  })
})
