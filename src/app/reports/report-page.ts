import { withoutZeros } from '../../domain/money.ts'
import type { Report } from './report.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import { count, figure, page, section, text } from './page.ts'

/** Returns the report as one self-contained HTML page: no script, no font, no external address. Light or dark as the reader prefers. */
export function reportPage(report: Report, madeAt: Date): string {
  const { totals, fields, leftOut, lists, days, runs } = report
  const title = 'run' in report.scope ? `Run ${report.scope.run}` : `Enrichment in ${report.scope.month}`
  const body = [
    `<header><h1>${text(title)}</h1><p>Made ${text(utcMinute(madeAt))} from the ledger. Amounts in USD.</p></header>`,
    `<section aria-label="Figures"><dl class="figures">${[
      figure('Records', count(totals.records)),
      figure('Matched', `${count(totals.matched)} of ${count(totals.attempted)}`),
      figure('Match rate', percent(report.matchRate)),
      figure('Written records', count(totals.filled)),
      ...(report.creditsPerMatched === null && report.creditsPerFilledField === null
        ? []
        : [
            figure('Paid in credits', plain(totals.credits)),
            figure('Credits per matched record', plain(report.creditsPerMatched)),
            figure('Credits per filled field', plain(report.creditsPerFilledField)),
          ]),
      figure('Paid', totals.settled),
      figure('Cost per matched record', report.costPerMatched ?? '–'),
      figure('Cost per filled field', report.costPerFilledField ?? '–'),
    ].join('')}</dl></section>`,
    section(
      'Results by record',
      bars(
        'Records by outcome',
        [
          ['written', totals.filled],
          ['unchanged', totals.unchanged],
          ['skipped', totals.skipped],
          ['rejected', totals.rejected],
          ['parked', totals.parked],
          ['job changes', totals.jobChanges],
        ].map(([name, value]) => ({ name: String(name), value: Number(value), label: count(Number(value)) })),
      ),
    ),
    section(
      'Fill rate by field',
      bars(
        'Share of the matched records in which each field was filled',
        fields.map(({ object, field, fillRate }) => ({
          name: new Set(fields.map((each) => each.object)).size > 1 ? `${field} (${object})` : field,
          value: fillRate ?? 0,
          label: percent(fillRate),
        })),
        1,
      ) +
        table(
          ['Field', 'Object', 'Filled', 'Changed', 'Fill rate'],
          fields.map(({ object, field, filled, changed, fillRate }) => [
            field,
            object,
            count(filled),
            count(changed),
            percent(fillRate),
          ]),
          2,
        ),
    ),
    ...(leftOut.length > 0
      ? [
          section(
            'Left out',
            table(
              ['Field', 'Object', 'What is wrong with its value', 'Records'],
              leftOut.map(({ field, object, reason, records }) => [field, object, reason, count(records)]),
              3,
            ),
          ),
        ]
      : []),
    ...(lists.length > 0
      ? [
          section(
            'Lists',
            table(
              ['List', 'Created', 'Existed', 'Share that existed', 'Paid', 'Cost per created record'],
              lists.map(({ list, created, existed, existedShare, paid, costPerCreated }) => [
                list,
                count(created),
                count(existed),
                percent(existedShare),
                paid,
                costPerCreated ?? '–',
              ]),
              1,
            ),
          ),
        ]
      : []),
    section(
      'Paid by day',
      bars(
        'USD settled on each day',
        days.map(({ day, settled }) => ({ name: day, value: Number(settled), label: settled })),
      ),
    ),
    section(
      'Runs',
      table(
        ['Run', 'Started (UTC)', 'Source', 'Records', 'Matched', 'Written', 'Changed', 'Rejected', 'Paid'],
        runs.map((run) => [
          run.runId,
          utcMinute(run.startedAt),
          `${run.connector} ${run.object}`,
          count(run.records),
          count(run.matched),
          count(run.filled),
          count(run.changed),
          count(run.rejected),
          run.settled,
        ]),
        3,
      ),
    ),
  ]
  return page(title, body)
}

interface Bar {
  name: string
  value: number
  label: string
}

/**
 * Draws each bar between its name and its number, so that length and colour never carry information alone. Names are text of
 * the page and wrap: text inside a drawing would be cut or shrink. The bar is a drawing, because browsers print no backgrounds.
 */
function bars(
  title: string,
  all: readonly Bar[],
  most = Math.max(...all.map(({ value }) => value), 0),
): string {
  if (all.length === 0) return '<p>Nothing yet.</p>'
  const rows = all.map(({ name, value, label }) => {
    const length = most === 0 ? 0 : Math.round((Math.min(value, most) / most) * 1_000)
    return `<li><span class="name">${text(name)}</span><svg viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true"><rect width="${length}" height="16"/></svg><span class="value">${text(label)}</span></li>`
  })
  return `<ul class="bars" aria-label="${text(title)}">${rows.join('')}</ul>`
}

/** Aligns the first columns as text and the others as numbers. */
function table(header: readonly string[], rows: readonly (readonly string[])[], words: number): string {
  if (rows.length === 0) return ''
  const cell = (tag: 'th scope="col"' | 'td', value: string, index: number) =>
    `<${tag} class="${index < words ? 'words' : 'number'}">${text(value)}</${tag.slice(0, 2)}>`
  return `<div class="scroll" tabindex="0" role="region" aria-label="${text(`Table: ${header.join(', ')}`)}"><table><thead><tr>${header.map((value, index) => cell('th scope="col"', value, index)).join('')}</tr></thead><tbody>${rows
    .map((values) => `<tr>${values.map((value, index) => cell('td', value, index)).join('')}</tr>`)
    .join('')}</tbody></table></div>`
}

function percent(value: number | null): string {
  return value === null ? '–' : `${(value * 100).toFixed(1)} %`
}

function plain(credits: string | null): string {
  return credits === null ? '–' : withoutZeros(credits)
}
