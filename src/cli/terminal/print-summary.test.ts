import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { RunEnd } from '../../app/runs/run-to-end.ts'
import type { RunSummary } from '../../app/runs/summary.ts'
import { summaryText } from './print-summary.ts'
import { painted } from './style.ts'

const summary: RunSummary = {
  runId: 'r1',
  object: 'company',
  connector: 'csv',
  records: 1,
  lookups: { unique: 1, paid: 1, cached: 0, notFound: 1, duplicates: 1 },
  tasks: { written: 0, unchanged: 1, skipped: 0, rejected: 0, parked: 0 },
  spend: { currency: 'USD', settled: '0.010000', inDoubt: '0.000000', lost: '0.000000' },
  withoutResult: { lookups: 1, settled: '0.010000' },
  requests: { sent: 1, rateLimited: 0 },
}
const file = new PassThrough() as unknown as NodeJS.WriteStream
const plain = (change: Partial<RunSummary>) =>
  painted(summaryText({ ...summary, ...change }, 'finished', undefined), file)

test('one of a thing is in the singular, and what was paid for nothing has a line', () => {
  expect(plain({}).split('\n')).toEqual([
    'run r1: 1 company (csv)',
    '  written         0',
    '  unchanged       1',
    '  skipped         0',
    '  rejected        0',
    'lookups: 1 different, 1 paid, 0 from the ledger, 1 duplicate row',
    'paid without a result: 1 lookup, 0.010000 USD',
    'spent: 0.010000 USD (1 request, 0 rate-limited)',
    '',
  ])
})

test('several are in the plural', () => {
  const several = plain({
    object: 'person',
    records: 2,
    lookups: { ...summary.lookups, duplicates: 0 },
    withoutResult: { lookups: 3, settled: '0.000000', credits: '3.000000' },
    requests: { sent: 4, rateLimited: 1 },
  })
  for (const words of ['2 people', '0 duplicate rows', '3 lookups, 3 credits', '4 requests'])
    expect(several).toContain(words)
  expect(plain({ withoutResult: undefined })).not.toContain('without a result')
})

test('a value without an option in the CRM names the command that lists such values', () => {
  const reasons = [{ status: 'written' as const, reason: 'left out industry (no such option)', count: 8 }]
  const text = plain({ connector: 'hubspot', reasons })
  expect(text).toContain('  8 written: left out industry (no such option)\n  `paydirt options hubspot` lists')
  expect(plain({ connector: 'hubspot' })).not.toContain('paydirt options')
})

test('a run that was stopped says that what is paid for is kept, and parks nothing', () => {
  const stopped = {
    ...summary,
    lookups: { ...summary.lookups, paid: 291 },
    tasks: { ...summary.tasks, parked: 2980 },
  }
  const text = painted(summaryText(stopped, 'interrupted', 'out.csv'), file)
  expect(text).toMatch(/\n {2}not done +2980\n/)
  expect(text).not.toContain('parked')
  expect(text).toMatch(
    /\nstopped\. Nothing is lost: 291 paid answers are kept, and the same command goes on with them\.\n$/,
  )
})

test('money in doubt has a line that says what ends the doubt, and a run that goes on asks again', () => {
  const inDoubt = { ...summary, spend: { ...summary.spend, inDoubt: '0.300000' } }
  const ended = (end: RunEnd) => painted(summaryText(inDoubt, end, undefined), file)
  for (const end of ['finished', 'parked', 'interrupted'] as const) {
    expect(ended(end)).toMatch(/0\.300000 in doubt .*\n {2}in doubt: promised, .*`paydirt reconcile`/)
    expect(ended(end).includes('The same command asks again')).toBe(end !== 'finished')
  }
  expect(plain({})).not.toContain('in doubt')
})
