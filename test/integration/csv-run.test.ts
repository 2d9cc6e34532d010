import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { sized } from '../support/full-size.ts'
import { makeFile } from '../support/spellings.ts'

const price = 10_000n
let sandbox: Sandbox
let desk: Desk

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  desk = await openDesk(sandbox)
})
afterEach(() => desk.close())

interface Summary {
  records: number
  lookups: { unique: number; paid: number; cached: number; notFound: number; duplicates: number }
  tasks: Record<string, number>
  spend: { currency: string; settled: string; inDoubt: string; lost: string }
  requests: { sent: number; rateLimited: number }
}

const usd = (lookups: number) => (lookups / 100).toFixed(6)

describe('a file of which many rows are the same companies written differently', () => {
  // Three rows of five are companies of their own, and between them come others, four times each.
  const count = sized(1000, 60)
  const slugs = Array.from({ length: count }, (_, index) =>
    index % 5 < 2 ? `again-${Math.floor(index / 5) % (count / 10)}` : `sole-${index}`,
  )
  const unique = 0.7 * count
  const duplicates = 0.3 * count
  const file = makeFile(slugs)
  const missing = file.distinct.filter((url) => companyAnswer(url).data === null).length

  test('is planned to the cent, pays for each company once, and marks the others as duplicates', async () => {
    expect(file.rows).toHaveLength(count)
    expect(file.distinct).toHaveLength(unique)
    expect(missing).toBeGreaterThan(count / 100)
    await desk.write('in.csv', file.csv)

    const plan = await desk.run(['csv', 'in.csv', '--object', 'company', '--plan', '--json'])
    expect(plan.status).toBe(0)
    expect(plan.json()).toMatchObject({
      plan: true,
      leftOut: [{ field: 'profnet_url', why: 'filled', records: count }],
      planId: expect.stringMatching(/^p/),
      object: 'company',
      connector: 'csv',
      records: count,
      lookups: { unique, cached: 0, duplicates, toBuy: unique },
      tasks: { skipped: 0, rejected: 0 },
      cost: { currency: 'USD', low: usd(unique), high: usd(unique) },
      input: expect.objectContaining({ file: 'in.csv', rows: count, notLookedUp: [] }),
      apply: expect.stringMatching(/^paydirt apply p\w+ --out in-enriched\.csv$/),
    })
    expect(await desk.transfers()).toEqual([])
    expect(sandbox.stats().requests).toBe(0)

    const command = ['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json']
    const first = await desk.run(command)
    expect(first.stderr).not.toContain('error')
    expect(first.status).toBe(0)
    const summary = first.json<Summary>()
    expect(summary).toMatchObject({
      records: count,
      lookups: { unique, paid: unique, cached: 0, notFound: missing, duplicates },
      spend: { currency: 'USD', settled: usd(unique), inDoubt: usd(0), lost: usd(0) },
      ...(missing > 0 ? { withoutResult: { lookups: missing, settled: usd(missing) } } : {}),
    })
    const transfers = await desk.transfers()
    expect(transfers).toHaveLength(unique)
    expect(transfers.every(({ amountAtomic, to }) => amountAtomic === price && to === sandbox.payTo)).toBe(
      true,
    )
    expect(sandbox.stats().keysPaidTwice).toBe(0)

    const out = await desk.rows('out.csv')
    expect(out).toHaveLength(count)
    const firstLine = new Map<string, number>()
    let line = 2
    for (const [index, row] of out.entries()) {
      expect(file.header.map((name) => row[name])).toEqual(file.rows[index])
      const url = file.profiles[index] as string
      const answer = companyAnswer(url, { logoUrl: sandbox.logoUrl }).data
      expect(row['paydirt_status']).toBe(answer ? 'written' : 'unchanged')
      if (answer) {
        expect(row['company_name']).toBe(answer.company_name)
        expect(row['domain']).toBe(answer.domain)
        expect(row['employees']).toBe(answer.company_size === null ? '' : String(answer.company_size))
        expect(Date.parse(row['paydirt_enriched_at'] as string)).not.toBeNaN()
      } else {
        expect(row['company_name']).toBe('')
        expect(row['paydirt_enriched_at']).toBe('')
        expect(row['paydirt_reason']).toContain('not found')
      }
      const before = firstLine.get(url)
      if (before === undefined) {
        firstLine.set(url, line)
        expect(row['paydirt_reason']).not.toContain('duplicate')
      } else {
        expect(row['paydirt_reason']).toContain(`duplicate of line ${before}`)
      }
      line += index % 7 === 0 ? 2 : 1
    }

    const again = await desk.run(command)
    expect(again.status).toBe(0)
    expect(again.json<Summary>()).toMatchObject({
      lookups: { unique, paid: 0, cached: unique, notFound: missing, duplicates },
      spend: { settled: usd(0) },
      requests: { sent: 0, rateLimited: 0 },
    })
    expect(await desk.transfers()).toHaveLength(unique)
    expect(await desk.rows('out.csv')).toHaveLength(count)

    const spend = await desk.run(['spend', '--by', 'connector', '--json'])
    expect(spend.json()).toMatchObject({
      rows: [
        {
          connector: 'csv',
          currency: 'USD',
          charges: unique,
          settled: usd(unique),
          inDoubt: usd(0),
          lost: usd(0),
        },
      ],
    })
  }, 180_000)
})

test('people are enriched as companies are, and known profiles of another file are not bought again', async () => {
  const slugs = ['ada-moreau', 'jonas-weber', 'ada-moreau', 'nobody-missing', 'mária-sántos', null]
  const file = makeFile(slugs, 'in')
  await desk.write('people.csv', file.csv)
  const args = (out: string) => ['--object', 'person', '--out', out, '--json']
  const first = await desk.run(['csv', 'people.csv', ...args('out.csv')])
  expect(first.status).toBe(0)
  expect(first.json()).toMatchObject({
    records: 6,
    lookups: { unique: 4, paid: 4, duplicates: 1 },
    tasks: { rejected: 1 },
  })
  for (const [index, row] of (await desk.rows('out.csv')).entries()) {
    const url = file.profiles[index]
    const answer = url ? personAnswer(url).data : null
    expect(row['paydirt_status']).toBe(url ? (answer ? 'written' : 'unchanged') : 'rejected')
    expect(row['full_name']).toBe(answer?.name ?? '')
    expect(row['headline']).toBe(answer?.headline ?? '')
    expect(row['company_name']).toBe(answer?.company?.company_name ?? '')
  }

  const other = makeFile(['jonas-weber', 'ingrid-lindqvist', 'nobody-missing'], 'in')
  await desk.write('other.csv', other.csv)
  const plan = await desk.run(['csv', 'other.csv', '--object', 'person', '--plan', '--json'])
  expect(plan.json()).toMatchObject({ lookups: { unique: 3, cached: 2, toBuy: 1 }, cost: { high: usd(1) } })
  const second = await desk.run(['csv', 'other.csv', ...args('other-out.csv')])
  expect(second.json()).toMatchObject({ lookups: { unique: 3, paid: 1, cached: 2 } })
  expect(await desk.transfers()).toHaveLength(5)
})
