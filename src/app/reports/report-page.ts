import type { Report } from './report.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

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
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${text(title)}</title>
<style>${style}</style>
</head>
<body><main>
${body.join('\n')}
</main></body>
</html>
`
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

function section(title: string, content: string): string {
  return `<section><h2>${text(title)}</h2>${content}</section>`
}

function figure(name: string, value: string): string {
  return `<div><dt>${text(name)}</dt><dd>${text(value)}</dd></div>`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function percent(value: number | null): string {
  return value === null ? '–' : `${(value * 100).toFixed(1)} %`
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => entities[character] as string)
}

const style = `
:root { --ink: #1d232b; --soft: #5a6573; --paper: #ffffff; --line: #d9dee4; --bar: #1f6f54 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaef; --soft: #a3adba; --paper: #14181d; --line: #333b45; --bar: #56b890 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 860px; margin: 0 auto; padding: 24px 16px 64px }
h1 { font-size: 1.6rem; margin: 0 }
h2 { font-size: 1.15rem; margin: 40px 0 12px }
header p { color: var(--soft); margin: 4px 0 24px }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 16px 24px; margin: 0 }
.figures div { border-top: 2px solid var(--line); padding-top: 8px }
dt { color: var(--soft); font-size: .9rem }
dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums }
.bars { list-style: none; margin: 0; padding: 0; max-width: 720px }
.bars li { display: grid; grid-template-columns: minmax(0, 15rem) minmax(0, 1fr) 6rem; gap: 12px; align-items: center; padding: 4px 0 }
.bars .name, .bars .value { overflow-wrap: anywhere; line-height: 1.3 }
.bars .value { color: var(--soft); font-variant-numeric: tabular-nums }
.bars svg { display: block; width: 100%; height: 16px }
.bars rect { fill: var(--bar) }
.scroll { overflow-x: auto; margin-top: 16px }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; vertical-align: top; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); white-space: nowrap }
td.words { white-space: normal; overflow-wrap: anywhere; min-width: 7rem; max-width: 24rem }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums }
@media (max-width: 560px) {
  .bars li { grid-template-columns: minmax(0, 1fr) 6rem; gap: 2px 12px }
  .bars .name { grid-column: 1 / -1 }
}
@page { margin: 15mm }
@media print {
  /* A reader whose screen is dark prints on white paper too. */
  :root { color-scheme: light; --ink: #000000; --soft: #444444; --paper: #ffffff; --line: #bbbbbb; --bar: #1f6f54 }
  body { font-size: 10.5pt }
  main { max-width: none; padding: 0 }
  h2 { break-after: avoid; margin-top: 24px }
  li, tr, .figures div { break-inside: avoid }
  thead { display: table-header-group }
  .scroll { overflow: visible }
  /* Paper does not scroll: words wrap into its width, numbers stay whole. */
  table { font-size: 8pt }
  th, td, td.words { min-width: 0; padding-right: 6px }
  th.words { white-space: normal }
}
`
