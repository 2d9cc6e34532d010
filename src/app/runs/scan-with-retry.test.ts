import { expect, test } from 'vitest'
import { RetriableError } from '../../domain/errors.ts'
import { scanWithRetry } from './scan-with-retry.ts'

const signal = new AbortController().signal

/** Scans a source that answers each attempt as `attempt` says, without the waits. */
async function play(attempt: (index: number, onPage: () => void) => void) {
  const waits: number[] = []
  const left: unknown[] = []
  let attempts = 0
  const ended = scanWithRetry(
    async (onPage) => {
      attempts += 1
      if (attempts > 5_000) throw new Error('it never ends')
      attempt(attempts, onPage)
      return 1
    },
    (ms, reason) => void left.push([ms, reason]),
    signal,
    async (ms) => void waits.push(ms),
  )
  const thrown = await ended.then(
    () => undefined,
    (error: unknown) => error,
  )
  return { attempts, waits, left, thrown }
}

const limited = (retryAfterMs?: number) =>
  new RetriableError('rate_limited', 'the CRM asks for fewer requests', { countsAsTry: false, retryAfterMs })

test.each([1_000, 10_000, undefined])(
  'a source that refuses without end (%s ms) is left after 15 minutes',
  async (ms) => {
    const { waits, left, thrown } = await play(() => {
      throw limited(ms)
    })
    expect(thrown).toBeUndefined()
    expect(left).toEqual([[60_000, 'the CRM asks for fewer requests']])
    const total = waits.reduce((sum, each) => sum + each, 0)
    expect(total).toBeLessThanOrEqual(900_000)
    expect(total).toBeGreaterThan(830_000)
  },
)

test('a source that refuses now and then is scanned to its end, however often', async () => {
  const { attempts, left, thrown } = await play((index, onPage) => {
    onPage()
    if (index < 1_000) throw limited(30_000)
  })
  expect({ attempts, left, thrown }).toEqual({ attempts: 1_000, left: [], thrown: undefined })
})

test('failures count from the last page, and the sixth in a row is thrown', async () => {
  const failure = new RetriableError('server_error', 'the CRM failed')
  expect(
    await play((index, onPage) => {
      if (index % 5 === 0) onPage()
      if (index < 100) throw failure
    }),
  ).toMatchObject({ attempts: 100, thrown: undefined })
  expect(
    await play(() => {
      throw failure
    }),
  ).toMatchObject({ attempts: 6, thrown: failure, waits: [1_000, 2_000, 4_000, 8_000, 16_000] })
})

test('a wait of more than a minute is not waited for', async () => {
  expect(
    await play(() => {
      throw limited(60_001)
    }),
  ).toMatchObject({ attempts: 1, waits: [], left: [[60_001, 'the CRM asks for fewer requests']] })
})
