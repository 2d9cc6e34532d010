import { defaultPrices } from '../../domain/planning/prices.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  BudgetExhaustedError,
  ConfigError,
  FatalError,
  InputError,
  PaymentInDoubtError,
  PolicyDeniedError,
  RetriableError,
} from '../../domain/errors.ts'
import { lookupKey } from '../../domain/keys.ts'
import type { Fact } from '../../domain/record.ts'
import type { LookupLedger, LookupRow } from '../../store/ledger/lookups.ts'
import { createLookUp } from './look-up.ts'

const key = lookupKey('company.profile', 'profnet.example/company/acme')
const at = new Date('2026-04-04T04:04:04Z')
const later = (ms: number) => new Date(at.getTime() + ms)

let row: LookupRow
/** The calls that wrote into the ledger or told others, in order. */
let done: unknown[][]

beforeEach(() => {
  done = []
  row = {
    key,
    operation: 'company.profile',
    request: { profnet_url: 'https://www.profnet.example/company/acme' },
    state: 'waiting',
    runId: 'r1',
    connector: 'csv',
    hot: false,
    tries: 0,
    runStopped: false,
    freshUntil: null,
    batchKey: null,
    alone: false,
    queryId: null,
    dueAt: new Date(0),
    reason: null,
  }
})

const fact: Fact = { outcome: 'found', data: { url: 'x' } }
const dearSlots = ['contact.redeem:email-work', 'contact.redeem:email-personal', 'contact.redeem:phone']

function run(buy: () => Promise<Fact>, fetchFree: () => Promise<Fact> = buy) {
  const note = (name: string) => (async (...args: unknown[]) => void done.push([name, ...args])) as never
  const lookUp = createLookUp({
    lookups: {
      get: async () => row,
      postpone: note('postpone'),
      park: note('park'),
      parkRest: note('parkRest'),
      fail: note('fail'),
      storeFree: note('storeFree'),
    } as unknown as LookupLedger,
    runs: { countRequests: note('count') },
    payer: { buy } as never,
    advance: { advanceTasksWaitingFor: note('advance'), advanceTasksPast: note('past') },
    suppressed: async () => new Set(),
    batches: { members: async () => [] },
    probation: { guard: (_, { confirmed }) => confirmed() },
    access: { watch: async (_, __, request) => void (await request()) },
    prepareBulk: () => {
      throw new Error('nothing is bundled here')
    },
    pollAnswer: async () => {
      throw new Error('nothing is batched here')
    },
    prepare: (operation, request) => ({ operation, request }) as never,
    fetchFree,
    prices: defaultPrices,
    freshUntil: (_, outcome, now) => new Date(now.getTime() + (outcome === 'found' ? 90 : 30)),
    now: () => at,
    random: () => 0.5,
    onHalt: (error) => void done.push(['halt', error.code]),
    onUnexpected: (failure) => void done.push(['unexpected', failure]),
  })
  return lookUp('background', key, 1)
}
const failing = (error: unknown) => async (): Promise<never> => {
  throw error
}

test('an action is sent by no worker', async () => {
  row = { ...row, operation: 'monitor.create' }
  await run(failing(new Error('must not be sent')))
  expect(done).toEqual([['park', key, null, expect.objectContaining({ code: 'action' })]])
})

describe('a lookup that ends', () => {
  test('advances the tasks that wait for it', async () => {
    expect(await run(async () => fact)).toBeUndefined()
    expect(done).toEqual([['advance', [key]]])
  })

  test('advances them too when another process has ended it, and buys nothing', async () => {
    for (const state of ['answered', 'failed'] as const) {
      row = { ...row, state }
      done = []
      await run(failing(new Error('must not be asked')))
      expect(done).toEqual([['advance', [key]]])
    }
  })

  test('is stored when it was free', async () => {
    row = { ...row, operation: 'company.logo' }
    await run(failing(new Error('must not be paid')), async () => fact)
    expect(done).toEqual([
      ['storeFree', key, { ...fact, freshUntil: later(90) }],
      ['advance', [key]],
    ])
  })

  test('is left alone while it is parked, of a stopped run, or gone', async () => {
    const never = failing(new Error('must not be asked'))
    for (const change of [{ state: 'parked' as const }, { runStopped: true }]) {
      const before = row
      row = { ...row, ...change }
      await run(never)
      row = before
    }
    row = undefined as never
    await run(never)
    expect(done).toEqual([])
  })
})

describe('a lookup that does not end', () => {
  test.each<[what: string, error: unknown, tries: number, done: unknown[][], outcome?: object]>([
    [
      'a 429 does not count as a try: the job comes back when the service says',
      new RetriableError('rate_limited', 'x', { countsAsTry: false, retryAfterMs: 700 }),
      5,
      [['count', 'r1', { rateLimited: 1 }]],
      { againInMs: 700 },
    ],
    [
      'neither does waiting for the pacer, which is no refusal',
      new RetriableError('paced', 'x', { countsAsTry: false, retryAfterMs: 1 }),
      5,
      [],
      { againInMs: 50 },
    ],
    [
      'a 5xx is tried again after half a second',
      new RetriableError('service_error', 'x'),
      0,
      [['postpone', key, later(500), 'x', true]],
    ],
    [
      'and twice as long each time',
      new RetriableError('service_error', 'x'),
      3,
      [['postpone', key, later(4000), 'x', true]],
    ],
    [
      'or after the time that the service asks for',
      new RetriableError('service_error', 'x', { retryAfterMs: 9000 }),
      1,
      [['postpone', key, later(9000), 'x', true]],
    ],
    [
      'the sixth 5xx ends it',
      new RetriableError('service_error', 'x'),
      5,
      [
        ['fail', key, 'x, 6 times', false],
        ['advance', [key]],
      ],
    ],
    [
      'the sixth time-out parks it: an outage says nothing about the record',
      new RetriableError('timeout', 'x'),
      5,
      [['park', key, later(300_000), { code: 'timeout', reason: 'x' }]],
    ],
    [
      'a payment in doubt is asked about again',
      new PaymentInDoubtError('in_doubt', 'x', { details: { askAgainInMs: 5000 } }),
      0,
      [['postpone', key, later(5000), 'x', true]],
    ],
    [
      'a payment that stays in doubt is parked',
      new PaymentInDoubtError('in_doubt', 'x'),
      5,
      [['park', key, later(300_000), { code: 'in_doubt', reason: 'payment in doubt: x' }]],
    ],
    [
      'a doubt that only a person can resolve is parked at once',
      new PaymentInDoubtError('in_doubt', 'x', { details: { askAgainInMs: 86_400_000 } }),
      0,
      [['park', key, later(86_400_000), { code: 'in_doubt', reason: 'payment in doubt: x' }]],
    ],
    [
      'a cap parks it until its window turns',
      new BudgetExhaustedError('budget_day', 'x', { resumesAt: later(77) }),
      0,
      [['park', key, later(77), { code: 'budget_day', reason: 'x' }]],
    ],
    [
      'a cap without a window parks it until a person acts',
      new BudgetExhaustedError('budget_run', 'x'),
      0,
      [['park', key, null, { code: 'budget_run', reason: 'x' }]],
    ],
    [
      'a budget that has no room for it parks what costs as much with it',
      new BudgetExhaustedError('budget_run', 'x', {
        details: { scope: 'run:r', cap: '200000', amount: '150000' },
      }),
      0,
      [
        ['park', key, null, { code: 'budget_run', reason: 'x' }],
        [
          'parkRest',
          key,
          null,
          { code: 'budget_run', reason: 'x' },
          { slots: dearSlots, budget: { scope: 'run:r', capAtomic: 200_000n, amountAtomic: 150_000n } },
        ],
      ],
    ],
    [
      'a refused challenge parks it and does not consume it',
      new PolicyDeniedError('price', 'x'),
      0,
      [['park', key, null, { code: 'price', reason: 'x' }]],
    ],
    [
      'wrong settings park it and stop the run',
      new ConfigError('user_agent_blocked', 'x'),
      0,
      [
        ['park', key, null, { code: 'user_agent_blocked', reason: 'x' }],
        ['halt', 'user_agent_blocked'],
      ],
    ],
    [
      'a 400 ends it at once',
      new FatalError('bad_request', 'x'),
      0,
      [
        ['fail', key, 'x', false],
        ['advance', [key]],
      ],
    ],
    [
      'so does a request that cannot be made',
      new InputError('bad_lookup', 'x'),
      0,
      [
        ['fail', key, 'x', false],
        ['advance', [key]],
      ],
    ],
  ])('%s', async (_, error, tries, expected, outcome) => {
    row = { ...row, tries }
    expect(await run(failing(error))).toEqual(outcome)
    expect(done).toEqual(expected)
  })

  test('an error that no code expected is reported, tried again, and in the end ends the lookup with its reason', async () => {
    const mistake = new TypeError('a mistake about Jane Doe')
    await run(failing(mistake))
    const problem = expect.stringMatching(/^TypeError at look-up\.test\.ts:\d+$/)
    expect(done).toEqual([
      ['unexpected', { operation: 'company.profile', tries: 1, problem }],
      ['postpone', key, later(500), expect.stringContaining('unexpected error: TypeError'), true],
    ])
    done = []
    row = { ...row, tries: 5 }
    await run(failing(mistake))
    expect(done).toMatchObject([
      ['unexpected', { tries: 6 }],
      ['fail', key, expect.stringContaining('unexpected error: TypeError'), false],
      ['advance', [key]],
    ])
    expect(JSON.stringify(done)).not.toContain('Jane')
  })

  test('a database that is away is reported and left to the queue: it could store no state', async () => {
    const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    await expect(run(failing(away))).rejects.toThrow('away')
    expect(done).toMatchObject([['unexpected', { problem: expect.stringContaining('ECONNREFUSED') }]])
  })

  test('an unreachable logo does not hold back answers that were paid for', async () => {
    row = { ...row, operation: 'company.logo', tries: 5 }
    await run(failing(new RetriableError('unreachable', 'x')))
    expect(done).toEqual([
      ['fail', key, 'x, 6 times', false],
      ['advance', [key]],
    ])
  })
})
