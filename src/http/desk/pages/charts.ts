import { html } from 'hono/html'
import { ranges, type ChartsModel, type CrmTimes, type PaceSteps } from '../model/charts.ts'
import { asTable, axisNumber, chart } from '../view/chart.ts'
import { connectorName, count, percent, perSecond, stamp, stepName, words } from '../view/format.ts'
import type { Page } from '../view/layout.ts'
import { card, empty, table, type Markup } from '../view/parts.ts'
import { weekCards } from './charts-cost.ts'

/** Shows the speed of the service and the CRMs, the service's limits, and the cost of a filled field. */
export function chartsPage(model: ChartsModel): Page {
  return {
    title: 'Charts',
    lead: 'How fast the service and the CRMs answer, and what a filled field costs.',
    current: '/charts',
    body: html`<nav class="ranges" aria-label="Time range">
        ${Object.entries(ranges).map(
          ([name, { name: text }]) =>
            html`<a href="/charts?range=${name}" ${name === model.range ? html`aria-current="page"` : ''}
              >${text}</a
            >`,
        )}
      </nav>
      ${card('lookups', 'Time of a lookup', lookupTimes(model), { className: 'chart-card', note: 'Paid requests, from the first byte sent to the stored answer' })}
      ${model.paces.map((path) => card(`pace-${path.path}`, paceTitles[path.path], pace(model, path), { className: 'chart-card', note: 'Of all processes together' }))}
      ${
        model.crms.length > 0
          ? model.crms.map((crm) =>
              card(
                `crm-${crm.connector}`,
                `Time of a call to ${connectorName(crm.connector)}`,
                crmTimes(model, crm),
                {
                  className: 'chart-card',
                  note: 'A page of a scan, or a batch read or written',
                },
              ),
            )
          : card(
              'crm',
              'Time of a call to the CRM',
              empty(`No CRM was called in these ${ranges[model.range].name}.`),
            )
      }
      ${weekCards(model.weeks)}`,
  }
}

const paceTitles: Record<PaceSteps['path'], string> = {
  lookup: 'Requests for lookups',
  redemption: 'Requests for contacts',
  enrichment: 'Requests for enrichments',
  search: 'Requests for searches',
  action: 'Requests for monitors and templates',
}

function lookupTimes(model: ChartsModel): Markup {
  const { steps, operations } = model.lookups
  if (operations.length === 0)
    return empty(`No paid lookup was answered in these ${ranges[model.range].name}.`)
  return html`${timeChart('Time of a lookup', model, steps)}
  ${timesTable(
    'Lookups by operation',
    'Operation',
    'Lookups',
    operations.map(({ operation, ...times }) => ({ name: stepName(operation), ...times })),
  )}
  ${stepTable(model, steps, 'Lookups', 'Time of a lookup in each step')}`
}

function crmTimes(model: ChartsModel, { connector, steps, calls }: CrmTimes): Markup {
  const name = `Time of a call to ${connectorName(connector)}`
  return html`${timeChart(name, model, steps)}
  ${timesTable(
    `Calls to ${connectorName(connector)}`,
    'Call',
    'Calls',
    calls.map(({ call, ...times }) => ({ name: words(call), ...times })),
  )}
  ${stepTable(model, steps, 'Calls', `${name} in each step`)}`
}

type Steps = readonly (Times | undefined)[]
interface Times {
  count: number
  p50Ms: number
  p95Ms: number
}

function timeChart(title: string, model: ChartsModel, steps: Steps): Markup {
  const last = steps.findLast((step) => step !== undefined)
  return chart({
    kind: 'lines',
    label: `${title}: in the latest step half took up to ${milliseconds(last?.p50Ms)} and 95 % up to ${milliseconds(last?.p95Ms)}; the table below lists each step`,
    series: [
      { name: 'half took at most (p50)', values: steps.map((step) => step?.p50Ms) },
      { name: '95 % took at most (p95)', values: steps.map((step) => step?.p95Ms) },
    ],
    format: milliseconds,
    ...timeAxis(model),
  })
}

function pace(model: ChartsModel, { path, steps }: PaceSteps): Markup {
  if (steps.every((step) => step === undefined))
    return empty(`No request was sent in these ${ranges[model.range].name}.`)
  const axis = timeAxis(model)
  const title = paceTitles[path]
  return html`<h3>Rate-limited (429)</h3>
    ${chart({
      kind: 'lines',
      label: `${title}: share of requests that were rate-limited; the table below lists each step`,
      series: [{ name: 'rate-limited', values: steps.map((step) => step?.limitedShare) }],
      format: (share) => `${axisNumber(share * 100)}\u00a0%`,
      most: 1,
      ...axis,
    })}
    <h3>Pace</h3>
    ${chart({
      kind: 'lines',
      label: `${title}: requests a second, sent and permitted by the pace; the table below lists each step`,
      series: [
        { name: 'sent', values: steps.map((step) => step?.sentPerSecond) },
        { name: 'permitted by the pace', values: steps.map((step) => step?.allowedPerSecond) },
      ],
      format: (value) => `${axisNumber(value)}/s`,
      ...axis,
    })}
    ${asTable(
      table(
        `${title} in each step`,
        [
          { name: 'From', isHead: true, cell: ({ at }) => stamp(at, model.to) },
          { name: 'Rate-limited', isNumber: true, cell: ({ step }) => percent(step.limitedShare) },
          { name: 'Sent', isNumber: true, cell: ({ step }) => `${perSecond(step.sentPerSecond)}/s` },
          {
            name: 'Permitted',
            isNumber: true,
            cell: ({ step }) =>
              step.allowedPerSecond === undefined ? '–' : `${perSecond(step.allowedPerSecond)}/s`,
          },
        ],
        filledSteps(model, steps),
      ),
    )}`
}

function timesTable(
  caption: string,
  what: string,
  counted: string,
  rows: ({ name: string } & Times)[],
): Markup {
  return table(
    caption,
    [
      { name: what, isHead: true, cell: ({ name }) => name },
      { name: counted, isNumber: true, cell: (row) => count(row.count) },
      { name: 'p50', isNumber: true, cell: ({ p50Ms }) => milliseconds(p50Ms) },
      { name: 'p95', isNumber: true, cell: ({ p95Ms }) => milliseconds(p95Ms) },
    ],
    rows,
    { isNarrow: true },
  )
}

function stepTable(model: ChartsModel, steps: Steps, counted: string, caption: string): Markup {
  return asTable(
    table(
      caption,
      [
        { name: 'From', isHead: true, cell: ({ at }) => stamp(at, model.to) },
        { name: counted, isNumber: true, cell: ({ step }) => count(step.count) },
        { name: 'p50', isNumber: true, cell: ({ step }) => milliseconds(step.p50Ms) },
        { name: 'p95', isNumber: true, cell: ({ step }) => milliseconds(step.p95Ms) },
      ],
      filledSteps(model, steps),
      { isNarrow: true },
    ),
  )
}

function filledSteps<T>({ times }: ChartsModel, steps: readonly (T | undefined)[]): { at: Date; step: T }[] {
  return times.flatMap((at, index) => {
    const step = steps[index]
    return step === undefined ? [] : [{ at, step }]
  })
}

const axisMarks = 5

function timeAxis({ from, to, range }: ChartsModel): { axis: string[]; caption: string } {
  const stepMs = (to.getTime() - from.getTime()) / (axisMarks - 1)
  return {
    axis: Array.from({ length: axisMarks }, (_, index) =>
      withoutZone(stamp(new Date(from.getTime() + index * stepMs), to)),
    ),
    caption: `Times in UTC; each point stands for ${ranges[range].step}`,
  }
}

function milliseconds(ms: number | undefined): string {
  if (ms === undefined) return 'unknown'
  if (ms < 1_000) return `${Math.round(ms)}\u00a0ms`
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0).replace(/\.0$/, '')}\u00a0s`
}

/** The caption of the axis names the zone of all its times. */
function withoutZone(text: string): string {
  return text.replace(/ UTC$/, '')
}
