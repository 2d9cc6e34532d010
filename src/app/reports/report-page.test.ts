import { expect, test } from 'vitest'
import type { Report } from './report.ts'
import { reportPage } from './report-page.ts'

const counts = {
  records: 10,
  attempted: 10,
  matched: 8,
  filled: 8,
  changed: 1,
  unchanged: 1,
  skipped: 1,
  rejected: 0,
  parked: 0,
  jobChanges: 0,
}
const money = { settled: '0.100000', lost: '0.000000', inDoubt: '0.000000', credits: '0.000000' }
const longName = 'current_employer_headquarters_country_code'
const report: Report = {
  scope: { month: '2026-11' },
  currency: 'USD',
  totals: { ...counts, ...money },
  matchRate: 0.8,
  creditsPerMatched: null,
  creditsPerFilledField: null,
  costPerMatched: '0.012500',
  costPerFilledField: '0.010000',
  filledFields: 10,
  fields: [{ object: 'person', field: longName, filled: 8, changed: 1, fillRate: 0.9 }],
  leftOut: [],
  lists: [],
  days: [],
  runs: [],
}

test('the page names each bar in full, as text that wraps', () => {
  const page = reportPage(report, new Date('2026-11-22T12:00:00Z'))
  expect(page).toContain(`<span class="name">${longName}</span>`)
  expect(page).not.toContain('…')
  expect(page).not.toContain('<text')
})

test('the page prints dark on white, with tables that fit the paper', () => {
  const style = reportPage(report, new Date('2026-11-22T12:00:00Z'))
  const print = style.slice(style.indexOf('@media print'))
  for (const rule of ['--paper: #ffffff', '.scroll { overflow: visible }', 'break-inside: avoid'])
    expect(print).toContain(rule)
})

test('credits are shown where direct access charged some', () => {
  const paid = { ...counts, ...money, settled: '0.000000', credits: '12.000000' }
  const made = new Date('2026-11-22T12:00:00Z')
  const page = reportPage(
    { ...report, totals: paid, creditsPerMatched: '1.500000', creditsPerFilledField: '1.200000' },
    made,
  )
  for (const [name, value] of [
    ['Paid in credits', '12'],
    ['Credits per matched record', '1.5'],
    ['Credits per filled field', '1.2'],
  ])
    expect(page).toContain(`<dt>${name}</dt><dd>${value}</dd>`)
  expect(reportPage(report, made)).not.toContain('credits')
})
