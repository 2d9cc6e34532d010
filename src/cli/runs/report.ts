import { writeFile } from 'node:fs/promises'
import { stringify } from 'csv-stringify/sync'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import type { Report } from '../../app/reports/report.ts'
import { reportPage } from '../../app/reports/report-page.ts'
import { isAboveZero } from '../../domain/money.ts'
import { ConfigError } from '../../domain/errors.ts'
import { counted } from '../../domain/values/counted.ts'
import { readConfig } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'
import { spentText } from '../terminal/spent-text.ts'

interface Options {
  month?: string
  json?: true
  csv?: true
  html?: string
}

export async function report(run: string | undefined, options: Options): Promise<void> {
  if (run !== undefined && options.month !== undefined)
    throw new ConfigError('two_scopes', 'give either a run or --month, not both')
  const now = new Date()
  const report = await queryLedger(
    await readConfig(),
    'report',
    run === undefined ? { month: options.month ?? now.toISOString().slice(0, 7) } : { run },
  )
  if (options.html !== undefined) {
    await writeFile(options.html, reportPage(report, now))
    print(`written: ${options.html}\n`)
  } else if (options.json) print(`${JSON.stringify(report)}\n`)
  else print(options.csv ? csv(report) : text(report))
}

const csvColumns = [
  'kind',
  'name',
  'connector',
  'object',
  'records',
  'attempted',
  'matched',
  'filled',
  'changed',
  'unchanged',
  'skipped',
  'rejected',
  'parked',
  'job_changes',
  'rate',
  'settled_usd',
  'lost_usd',
  'credits',
]

/** Runs and fields are one table; the first column separates them in a spreadsheet. */
function csv(report: Report): string {
  const runs = report.runs.map((run) => ({
    kind: 'run',
    name: run.runId,
    connector: run.connector,
    object: run.object,
    records: run.records,
    attempted: run.attempted,
    matched: run.matched,
    filled: run.filled,
    changed: run.changed,
    unchanged: run.unchanged,
    skipped: run.skipped,
    rejected: run.rejected,
    parked: run.parked,
    job_changes: run.jobChanges,
    rate: run.matchRate,
    settled_usd: run.settled,
    lost_usd: run.lost,
    credits: run.credits,
  }))
  const fields = report.fields.map(({ field, object, filled, changed, fillRate }) => ({
    kind: 'field',
    name: field,
    object,
    filled,
    changed,
    rate: fillRate,
  }))
  return stringify([...runs, ...fields], { header: true, columns: csvColumns })
}

function text({
  scope,
  totals,
  matchRate,
  costPerMatched,
  costPerFilledField,
  creditsPerMatched,
  creditsPerFilledField,
  fields,
  leftOut,
  lists,
  runs,
}: Report): string {
  const name = 'run' in scope ? `run ${scope.run}` : `${scope.month}: ${counted(runs.length, 'run')}`
  const hasCredits = creditsPerMatched !== null || creditsPerFilledField !== null
  const lines = [
    name,
    `  records    ${totals.records}`,
    `  attempted  ${totals.attempted}`,
    `  matched    ${totals.matched} (${percent(matchRate)})`,
    `  written    ${totals.filled}, ${totals.changed} of them with a changed value`,
    `  unchanged  ${totals.unchanged}, skipped ${totals.skipped}, rejected ${totals.rejected}, parked ${totals.parked}`,
    ...(totals.jobChanges > 0
      ? [`  job changes ${totals.jobChanges}: people whose employer or title differs from their record`]
      : []),
    `  paid       ${spentText(totals.settled, totals.credits)}${isAboveZero(totals.lost) ? `, ${totals.lost} lost` : ''}`,
    ...(!hasCredits || isAboveZero(totals.settled)
      ? [
          `  cost       ${costPerMatched ?? '-'} USD per matched record, ${costPerFilledField ?? '-'} per filled field`,
        ]
      : []),
    ...(hasCredits
      ? [
          `  cost       ${creditsText(creditsPerMatched)} per matched record, ${creditsText(creditsPerFilledField)} per filled field`,
        ]
      : []),
  ]
  if (fields.length > 0) lines.push('fields:')
  for (const { field, object, filled, changed, fillRate } of fields)
    lines.push(
      `  ${field.padEnd(22)} ${object.padEnd(8)} ${String(filled).padStart(7)} filled ${String(changed).padStart(6)} changed  ${percent(fillRate).padStart(7)}`,
    )
  if (lists.length > 0) lines.push('lists:')
  for (const {
    list,
    created,
    existed,
    existedShare,
    ambiguous,
    paid,
    paidForExisting,
    costPerCreated,
  } of lists)
    lines.push(
      `  ${list.padEnd(22)} ${created} created, ${existed} existed (${percent(existedShare)}), ${ambiguous} ambiguous; ${paid} USD, ${costPerCreated ?? '-'} per created record${isAboveZero(paidForExisting) ? `, ${paidForExisting} of it for records that existed` : ''}`,
    )
  if (leftOut.length > 0) lines.push('left out, because the value is none of its kind:')
  for (const { field, object, reason, records } of leftOut)
    lines.push(`  ${field.padEnd(22)} ${object.padEnd(8)} ${String(records).padStart(7)} ${reason}`)
  return `${lines.join('\n')}\n`
}

function creditsText(credits: string | null): string {
  return credits === null ? '-' : spentText('0', credits)
}

function percent(value: number | null): string {
  return value === null ? '-' : `${(value * 100).toFixed(1)} %`
}
