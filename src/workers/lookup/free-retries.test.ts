import { expect, test } from 'vitest'
import { PaymentInDoubtError, RetriableError } from '../../domain/errors.ts'
import { lookupKey } from '../../domain/keys.ts'
import type { LookupLedger, LookupRow } from '../../store/ledger/lookups.ts'
import { createLookUp } from './look-up.ts'

const key = lookupKey('company.profile', 'profnet.example/company/acme')

/**
 * Plays the queue for a lookup whose attempts all end with one error: starts its job again when it comes back, and opens
 * another job when it was postponed. Ends when the lookup has left the state `waiting`.
 */
async function playOut(error: unknown, mostStarts: number) {
  let nowMs = Date.parse('2026-04-04T04:04:04Z')
  const row: LookupRow = {
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
  let end: unknown[] | undefined
  let bought = 0
  const lookUp = createLookUp({
    lookups: {
      get: async () => row,
      async postpone(_: unknown, dueAt: Date) {
        row.tries += 1
        nowMs = dueAt.getTime()
      },
      park: async (_: unknown, __: unknown, cause: object) => void (end = ['parked', cause]),
      fail: async (_: unknown, reason: string) => void (end = ['failed', reason]),
    } as unknown as LookupLedger,
    runs: { countRequests: async () => {} },
    payer: {
      buy: async () => {
        bought += 1
        throw error
      },
    } as never,
    advance: { advanceTasksWaitingFor: async () => {}, advanceTasksPast: async () => {} },
    suppressed: async () => new Set(),
    batches: { members: async () => [] },
    probation: { guard: (_, { confirmed }) => confirmed() },
    access: { watch: async (_, __, request) => void (await request()) },
    prepareBulk: () => {
      throw new Error('nothing is batched here')
    },
    pollAnswer: async () => {
      throw new Error('nothing is batched here')
    },
    prepare: (operation, request) => ({ operation, request }) as never,
    fetchFree: async () => {
      throw new Error('nothing is free here')
    },
    prices: {},
    freshUntil: (_, __, now) => now,
    now: () => new Date(nowMs),
    random: () => 1,
    onHalt: () => {},
    onUnexpected: () => {},
  })
  const waits: number[] = []
  for (let starts = 1; end === undefined && bought < mostStarts;) {
    const outcome = await lookUp('background', key, starts)
    starts = outcome ? starts + 1 : 1
    if (!outcome) continue
    waits.push(outcome.againInMs)
    nowMs += outcome.againInMs
  }
  return { end, bought, waits }
}

const free = (code: string, retryAfterMs?: number) =>
  new RetriableError(code, `the ${code} again`, { countsAsTry: false, retryAfterMs })

test.each([
  ['challenge_ended', undefined],
  ['charge_closed', undefined],
  ['ended_meanwhile', 50],
  ['not_completed', 30_000],
  ['a code that nobody thought of', undefined],
])('%s at each attempt ends with a reason', async (code, retryAfterMs) => {
  const { end, bought, waits } = await playOut(free(code, retryAfterMs), 1_000)
  expect(end).toEqual(['failed', `the ${code} again, 6 times`])
  expect(bought).toBe(6 * 30)
  // It never spins: the wait grows to five seconds, or is what the other side asked for.
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(retryAfterMs ?? 37)
  expect(waits[28]).toBe(Math.max(5_000, retryAfterMs ?? 0))
})

test('waiting for the pace costs no try, because it sends nothing and a slow pace is no fault of the lookup', async () => {
  for (const code of ['paced', 'rate_limited'])
    expect(await playOut(free(code, 100), 500)).toMatchObject({ end: undefined, bought: 500 })
})

test('what counts from the start still ends after six tries', async () => {
  expect(await playOut(new RetriableError('service_error', 'x'), 100)).toMatchObject({ bought: 6 })
  expect(await playOut(new PaymentInDoubtError('in_doubt', 'x'), 100)).toMatchObject({
    bought: 6,
    end: ['parked', { code: 'in_doubt' }],
  })
})
