import { expect, test } from 'vitest'
import { RetriableError } from '../../domain/errors.ts'
import { lookupKey } from '../../domain/keys.ts'
import { createAccessWatch } from './access-watch.ts'
import { createLookUp, type LookUpOptions } from './look-up.ts'

const at = new Date('2026-04-04T04:04:04Z')
const paid = lookupKey('company.profile', 'profnet.example/company/acme')
const free = lookupKey('company.logo', 'acme.example')

/** Returns what a lookup that meets this error does next. */
async function after(error: RetriableError, options: { isFree?: boolean; tries?: number } = {}) {
  const { isFree = false, tries = 0 } = options
  const key = isFree ? free : paid
  const done: string[] = []
  const refuse = async () => {
    throw error
  }
  const inMs = (due: Date | null) => due!.getTime() - at.getTime()
  const lookUp = createLookUp({
    lookups: {
      get: async () => ({
        key,
        operation: isFree ? 'company.logo' : 'company.profile',
        request: {},
        state: 'waiting',
        runId: 'r',
        tries,
      }),
      postpone: async (_: string, due: Date) => void done.push(`again in ${inMs(due)}`),
      park: async (_: string, due: Date | null, { code, reason }: { code: string; reason: string }) =>
        void done.push(
          `parked ${due ? `for ${inMs(due)}` : 'until a person starts it again'}, ${code}: ${reason}`,
        ),
      fail: async (_: string, reason: string) => void done.push(`failed: ${reason}`),
    },
    runs: { countRequests: async () => {} },
    payer: { buy: refuse },
    fetchFree: refuse,
    prepare: () => ({}),
    suppressed: async () => new Set(),
    probation: { guard: (_: unknown, to: { confirmed: () => Promise<void> }) => to.confirmed() },
    access: createAccessWatch({ now: () => at }),
    advance: { advanceTasksWaitingFor: async () => void done.push('advanced') },
    now: () => at,
    random: () => 0.5,
  } as unknown as LookUpOptions)
  const outcome = await lookUp('background', key, 1)
  if (outcome) done.push(`in the queue for ${outcome.againInMs}`)
  return done
}

const refused = (retryAfterMs?: number) =>
  new RetriableError('rate_limited', 'refused', { countsAsTry: false, retryAfterMs })
const year = 31_536_000_000

test.each([
  [undefined, 'in the queue for 1000'],
  [60_000, 'in the queue for 60000'],
  [300_000, 'in the queue for 300000'],
])('a refusal of %s ms waits in the queue', async (ms, expected) => {
  expect(await after(refused(ms))).toEqual([expected])
})

test.each([
  ['429', 300_001, refused(300_001)],
  ['429', 600_000, refused(year)],
  ['pacer', 600_000, new RetriableError('paced', 'x', { countsAsTry: false, retryAfterMs: year })],
])('a long refusal by the %s parks the lookup with its reason for %i ms', async (_, ms, error) => {
  expect(await after(error)).toEqual([
    `parked for ${ms}, rate_limited: the service refuses requests (429) and asks for a wait of more than five minutes; it is asked again every ten minutes`,
  ])
})

test('no wait that a server asks for is longer than five minutes', async () => {
  expect(await after(new RetriableError('service_error', 'x', { retryAfterMs: year }))).toEqual([
    'again in 300000',
  ])
})

test.each([
  [undefined, ['again in 500']],
  [30_000, ['again in 30000']],
  [30_001, ['failed: the logo endpoint answered 429', 'advanced']],
  [year, ['failed: the logo endpoint answered 429', 'advanced']],
])('a free logo that may be asked again after %s ms: %j', async (retryAfterMs, expected) => {
  const error = new RetriableError('logo_failed', 'the logo endpoint answered 429', { retryAfterMs })
  expect(await after(error, { isFree: true })).toEqual(expected)
})

test.each([
  [0, 'again in 1000'],
  [2, 'again in 4000'],
  [5, 'parked until a person starts it again, not_in_time: x, 6 times'],
])('a 408 after %i tries: %s', async (tries, expected) => {
  expect(await after(new RetriableError('not_in_time', 'x'), { tries })).toEqual([expected])
})

test('waiting for the first answer of its operation is no try', async () => {
  const error = new RetriableError('on_probation', 'x', { countsAsTry: false, retryAfterMs: 300 })
  expect(await after(error, { tries: 5 })).toEqual(['in the queue for 300'])
})
