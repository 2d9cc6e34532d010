import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import type { FaultsInput } from '../../src/sandbox/faults/faults.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse, type House } from '../support/house.ts'
import { sized } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'
import { makeFile, type MadeFile } from '../support/spellings.ts'

let sandbox: Sandbox

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(() => void sandbox.faults.reset())

/** Runs the file under the faults, and holds what must be so whatever happens on the way. */
async function enrichUnder(house: House, file: MadeFile, faults: FaultsInput) {
  const [before, paidBefore] = [sandbox.stats(), await house.transfers()]
  sandbox.faults.set({ seed: testSeed() % 1_000_000, ...faults })
  const { end, summary, rows } = await house.enrich(file)
  sandbox.faults.reset()

  expect(end).toBe('finished')
  expect(rows.map((row) => [row['paydirt_status'], row['company_name']])).toEqual(
    file.profiles.map((url) => {
      const answer = companyAnswer(url as string).data
      return answer ? ['written', answer.company_name] : ['unchanged', '']
    }),
  )
  const count = file.distinct.length
  expect(summary).toMatchObject({
    lookups: { unique: count, paid: count, cached: 0 },
    spend: { settled: (count / 100).toFixed(6), inDoubt: '0.000000', lost: '0.000000' },
  })
  expect((await house.transfers()).length - paidBefore.length).toBe(count)
  const stats = sandbox.stats()
  expect(stats.keysPaidTwice).toBe(before.keysPaidTwice)
  expect(await house.nonces()).toEqual((await house.transfers()).map(({ nonce }) => nonce).sort())
  const since = (name: 'dropped' | 'repeated' | 'rateLimited' | 'requests' | 'challenged') =>
    stats[name] - before[name]
  return {
    summary,
    since,
    errors: (status: number) => (stats.byStatus[status] ?? 0) - (before.byStatus[status] ?? 0),
  }
}

const companies = (name: string, count: number) =>
  makeFile(Array.from({ length: count }, (_, index) => `${name}-${index}`))

describe('a service that keeps payment identifiers', () => {
  const rows = sized(24, 14)
  let house: House
  beforeAll(async () => void (house = await openHouse(sandbox)))
  afterAll(() => house.close())
  const run = (name: string, faults: FaultsInput) =>
    enrichUnder(house, companies(name, rows), { paymentIdentifier: true, ...faults })

  test('fails at the door: nothing is paid for it', async () => {
    const { errors } = await run('door', { errorAtDoor: { share: 0.4, status: 503 } })
    expect(errors(503)).toBeGreaterThan(rows / 6)
  })

  test('fails after it has verified the payment: the same one goes out again', async () => {
    const { errors } = await run('verified', { errorAfterVerification: { share: 0.4 } })
    expect(errors(500)).toBeGreaterThan(rows / 6)
  })

  test('cuts the connection before it has settled', async () => {
    const { since } = await run('cut-before', {
      dropAtDoor: { share: 0.15 },
      dropBeforeSettlement: { share: 0.2 },
    })
    expect(since('dropped')).toBeGreaterThan(rows / 5)
  })

  test('cuts the connection when it has settled: the answer is had without another payment', async () => {
    const { since } = await run('cut-after', { dropAfterSettlement: { share: 0.4 } })
    expect(since('dropped')).toBeGreaterThan(rows / 6)
    expect(since('repeated')).toBeGreaterThan(rows / 6)
  })

  test('settles and answers 500, 502 or another challenge all the same', async () => {
    const { since, errors } = await run('after-all', {
      errorAfterSettlement: { share: 0.25 },
      facilitatorTimeout: { share: 0.25 },
      challengeAfterSettlement: { share: 0.25 },
    })
    expect(errors(500)).toBeGreaterThan(0)
    expect(errors(502)).toBeGreaterThan(0)
    expect(since('repeated')).toBeGreaterThan(rows / 5)
  })

  test('says that the settlement is pending, and the money moves later', async () => {
    const { summary, errors } = await run('pending', {
      settlementPending: { share: 0.3, delayMs: 700 },
      slowFacilitator: { share: 0.3, delayMs: 200 },
    })
    expect(summary.lookups.paid).toBe(rows)
    expect(errors(402)).toBeGreaterThan(rows / 8)
  })
})

describe('a challenge', () => {
  let house: House
  afterEach(() => house.close())

  test.each([
    ['v1', 'of version 1, in the body', { version: 1 }],
    ['v2-body', 'of version 2, in the body', { version: 2, place: 'body' }],
    ['v2-both', 'of version 2, in the header and the body', { version: 2, place: 'both' }],
  ] as const)('%s: %s, is read and paid', async (name, _, challenge) => {
    house = await openHouse(sandbox)
    const { since, summary } = await enrichUnder(house, companies(name, 8), { challenge })
    // Once the terms are known, a lookup is one request.
    expect(since('challenged')).toBeLessThanOrEqual(8)
    expect(summary.requests.sent).toBe(8 + since('challenged'))
    const more = await enrichUnder(house, companies(`${name}-more`, 5), {
      challenge,
    })
    expect(more.since('challenged')).toBe(0)
    expect(more.summary.requests.sent).toBe(5)
  })
})

describe('a request limit that nobody tells', () => {
  let house: House
  beforeAll(async () => void (house = await openHouse(sandbox)))
  afterAll(() => house.close())

  test('costs time and nothing else: a refusal is never an attempt', async () => {
    const file = companies('limited', sized(60, 16))
    // A limit that a busy machine exceeds too. It is lifted after its first refusal, or 60 requests would take 40 seconds.
    const before = sandbox.stats().rateLimited
    const lift = setInterval(() => {
      if (sandbox.stats().rateLimited > before) sandbox.faults.set({ rateLimit: null })
    }, 10)
    const { summary, since } = await enrichUnder(house, file, {
      rateLimit: { kind: 'fixed', limit: 3, windowMs: 2_000 },
    }).finally(() => clearInterval(lift))
    expect(summary.requests.rateLimited).toBeGreaterThan(0)
    expect(summary.requests.rateLimited).toBe(since('rateLimited'))
    const { tries } = await house.context.database.db
      .selectFrom('lookups')
      .select((eb) => eb.fn.max('tries').as('tries'))
      .executeTakeFirstOrThrow()
    expect(tries).toBe(0)
  })
})
