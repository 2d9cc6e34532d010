import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import type { Stats } from '../../src/sandbox/stats.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { makeFile, type MadeFile } from '../support/spellings.ts'

let sandbox: Sandbox
let desk: Desk

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  // Slow enough that many lookups are on their way at any moment, and never all that are left.
  sandbox.faults.set({ paymentIdentifier: true, latency: { minMs: 50, maxMs: 250 } })
  // Slow enough that an interruption meets a run that has more to do, also where it comes late.
  desk = await openDesk(sandbox, {
    config: { pacing: { startPerSecond: 40, maxPerSecond: 40, concurrency: 16 } },
  })
})
afterEach(() => desk.close())

const command = (file: string) => ['csv', file, '--object', 'company', '--out', `out-${file}`, '--json']

/** Counts the sandbox's progress since this was called. */
function counter() {
  const before = sandbox.stats()
  return (name: 'settled' | 'answered' | 'challenged' | 'requests') => sandbox.stats()[name] - before[name]
}

async function expectEnriched(output: string, file: MadeFile): Promise<void> {
  const rows = await desk.rows(output)
  expect(rows.map((row) => file.header.map((name) => row[name]))).toEqual(file.rows)
  expect(rows.map((row) => [row['paydirt_status'], row['company_name']])).toEqual(
    file.profiles.map((url) => {
      const answer = companyAnswer(url as string).data
      return answer ? ['written', answer.company_name] : ['unchanged', '']
    }),
  )
}

describe('a run that is killed', () => {
  test('in several moments, one after the other, pays for each company once in the end', async () => {
    const count = sized(100, 40)
    const slugs = Array.from({ length: 1.2 * count }, (_, index) => `killed-${index % count}`)
    const file = makeFile(slugs)
    await desk.write('in.csv', file.csv)
    const since = counter()
    const moments: (() => boolean)[] = [
      () => since('challenged') >= 1,
      () => since('settled') >= 1,
      () => since('answered') >= 0.15 * count,
      () => since('settled') >= 0.45 * count,
      () => since('answered') >= 0.7 * count,
    ]
    for (const moment of isFullSize ? moments : [moments[1]!, moments[3]!]) {
      const killed = await desk.start(command('in.csv')).killWhen('SIGKILL', moment)
      expect(killed).toMatchObject({ status: null, signal: 'SIGKILL', stdout: '' })
      expect(existsSync(desk.at('out-in.csv'))).toBe(false)
    }

    const last = await desk.run(command('in.csv'))
    expect(last.status).toBe(0)
    expect(last.json()).toMatchObject({
      records: 1.2 * count,
      lookups: { unique: count, paid: count, cached: 0, duplicates: 0.2 * count },
      tasks: { skipped: 0, rejected: 0, parked: 0 },
      spend: { settled: (count / 100).toFixed(6), inDoubt: '0.000000', lost: '0.000000' },
    })
    await expectEnriched('out-in.csv', file)
    expect(await desk.transfers()).toHaveLength(count)
    const { keysPaidTwice, repeated }: Stats = sandbox.stats()
    expect(keysPaidTwice).toBe(0)
    // Or no kill has hit a payment on its way, and this test has shown nothing.
    expect(repeated).toBeGreaterThan(0)
  }, 180_000)
})

describe('a run that is interrupted', () => {
  test('ends with 130, has lost nothing, and pays for nothing twice when it goes on', async () => {
    const count = sized(150, 80)
    const file = makeFile(Array.from({ length: count }, (_, index) => `stopped-${index}`))
    await desk.write('in.csv', file.csv)
    const since = counter()
    const stopped = await desk.start(command('in.csv')).killWhen('SIGINT', () => since('settled') >= 5)
    expect(stopped).toMatchObject({ status: 130, signal: null })
    expect(existsSync(desk.at('out-in.csv'))).toBe(false)
    const paid = (await desk.transfers()).length
    expect(paid).toBeGreaterThanOrEqual(5)
    expect(paid).toBeLessThan(count)
    // The requests on their way were waited for: every payment has its answer, and none is in doubt.
    const { lookups, spend, runId } = stopped.json<{
      lookups: { paid: number }
      spend: { inDoubt: string }
      runId: string
    }>()
    expect(lookups.paid).toBe(paid)
    expect(spend.inDoubt).toBe('0.000000')

    const rest = await desk.run(command('in.csv'))
    expect(rest.status).toBe(0)
    expect(rest.stderr).toContain(`continuing run ${runId}`)
    expect(rest.json()).toMatchObject({ runId, lookups: { unique: count, paid: count, cached: 0 } })
    await expectEnriched('out-in.csv', file)
    expect(await desk.transfers()).toHaveLength(count)
  }, 180_000)

  test('leaves what it has not bought to itself: another file does not pay for it', async () => {
    const count = sized(60, 36)
    const one = makeFile(Array.from({ length: count }, (_, index) => `one-${index}`))
    await desk.write('one.csv', one.csv)
    const since = counter()
    const stopped = await desk.start(command('one.csv')).killWhen('SIGTERM', () => since('answered') >= 10)
    expect(stopped.status).toBe(130)
    const before = new Set((await desk.transfers()).map(({ transaction }) => transaction))

    const two = makeFile(['two-1', 'two-2', `one-${count - 1}`, 'two-3', 'two-1'])
    await desk.write('two.csv', two.csv)
    const other = await desk.run(command('two.csv'))
    expect(other.status).toBe(0)
    await expectEnriched('out-two.csv', two)
    const bought = (await desk.transfers()).filter(({ transaction }) => !before.has(transaction))
    expect(bought.length).toBeLessThanOrEqual(4)
    expect(bought.length).toBeGreaterThanOrEqual(3)

    const rest = await desk.run(command('one.csv'))
    expect(rest.status).toBe(0)
    await expectEnriched('out-one.csv', one)
    expect(await desk.transfers()).toHaveLength(count + 3)
  }, 180_000)
})
