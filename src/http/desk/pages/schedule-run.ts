import { html } from 'hono/html'
import type { Funnel } from '../../../store/views/desk-runs.ts'
import type { DeskCaps } from '../model/budgets.ts'
import { allObjects, type ScheduleRow } from '../model/ports.ts'
import { inlineText } from '../view/foreign-text.ts'
import { connectorName, cost, count, counted, usd } from '../view/format.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { card, instant, type Markup } from '../view/parts.ts'

interface ScheduleRun {
  schedule: ScheduleRow
  /** The figures of the last run of each object. */
  last: { id: string; funnel: Funnel }[]
  caps: DeskCaps
}

/** Says what a run of a schedule now would be, and asks. */
export function scheduleRunPage({ schedule, last, caps }: ScheduleRun, { visitor, now }: Shell): Page {
  const { name, report, isPaused, next, timeZone, openRuns } = schedule
  const facts: [string, Markup | string][] = [
    ...sourceFacts(schedule),
    [
      'Next planned time',
      isPaused ? 'none: the schedule is paused' : instant(next[0], now, { timeZone, none: 'none' }),
    ],
    ...(report === undefined ? ([['Caps', capText(caps)]] satisfies [string, string | Markup][]) : []),
    ...last.map(({ id, funnel }): [string, Markup] => [
      'Last run',
      html`<a href="/runs/${id}"><code>${id}</code></a
        >: ${counted(funnel.records, 'record')}, ${count(funnel.filled)} written,
        ${cost(funnel.settledAtomic, funnel.creditsAtomic)}`,
    ]),
  ]
  return {
    title: 'Run a schedule now',
    lead: html`Schedule ${inlineText(name)}. <a href="/settings">Back to the settings</a>`,
    current: '/settings',
    body: card(
      'run-now',
      'What begins',
      html`<dl class="facts">
          ${facts.map(
            ([term, text]) =>
              html`<div>
                <dt>${term}</dt>
                <dd>${text}</dd>
              </div>`,
          )}
        </dl>
        ${openRuns.length === 0 ? '' : html`<p class="note">It waits for the run before it: ${openRuns.map((id) => html`<a href="/runs/${id}"><code>${id}</code></a> `)}</p>`}
        <p class="note">
          It begins outside the times and the window of the
          schedule${isPaused ? ', also while the schedule is paused' : ''}.
          ${report === undefined ? html`Lookups cost money, within the caps; what is known already is not bought again. ${planLink(schedule)}` : 'It reads the ledger and pays nothing.'}
        </p>
        <form class="below" method="post" action="/schedules/run">
          ${csrf(visitor)}<input type="hidden" name="name" value="${name}" />
          <button class="primary" type="submit">Yes, run it now</button>
        </form>`,
    ),
  }
}

/** Says what a schedule works on. */
function sourceFacts({
  connector,
  entity,
  list,
  signals,
  champions,
  report,
  recipe,
  limit,
}: ScheduleRow): [string, Markup | string][] {
  if (report !== undefined) return [['Report', html`of ${inlineText(report)}, to the alert webhook`]]
  if (signals !== undefined)
    return [
      ['Signals', inlineText(signals)],
      ['Checks', 'those that are due, the oldest first'],
    ]
  if (champions !== undefined)
    return [
      ['Champions', inlineText(champions)],
      ['Checks', 'those that are due, the oldest first'],
    ]
  const source = html`${connectorName(connector)} ${inlineText(entity)}`
  if (list !== undefined)
    return [
      ['Source', source],
      ['List', inlineText(list)],
      ['Records', 'new ones, when something has changed on page 1'],
    ]
  return [
    ['Source', source],
    ['Recipe', recipe === undefined ? 'the default recipe' : inlineText(recipe)],
    [
      'Records',
      limit === undefined ? 'all that have changed since the last sync' : `at most ${count(limit)}`,
    ],
  ]
}

/** A plan of the same sync, for a schedule of one object: its cost and what it would change. */
function planLink({ connector, entity, list, signals, champions, recipe, limit }: ScheduleRow): Markup {
  if (entity === allObjects || (list ?? signals ?? champions) !== undefined) return html``
  const query = new URLSearchParams({
    connector,
    entity,
    ...(recipe === undefined ? {} : { recipe }),
    ...(limit === undefined ? {} : { limit: String(limit) }),
  })
  return html`<a href="/sync?${query.toString()}">Plan this sync first</a> to see what it would cost and
    change.`
}

function capText({ runAtomic, dayAtomic, monthAtomic }: DeskCaps): string {
  const caps = [
    ...(runAtomic === undefined ? [] : [`${usd(runAtomic)} a run`]),
    ...(dayAtomic === undefined ? [] : [`${usd(dayAtomic)} a day`]),
    ...(monthAtomic === undefined ? [] : [`${usd(monthAtomic)} a month`]),
  ]
  return caps.length > 0 ? caps.join(', ') : 'none'
}
