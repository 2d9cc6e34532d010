import { html } from 'hono/html'
import { dayBefore, utcDay, type DayScore } from '../../../../domain/signals/change.ts'
import { typeNames } from '../../../../domain/signals/reason.ts'
import { nameOf } from '../../../../domain/signals/report.ts'
import type { Addend, SeenSignal } from '../../../../domain/signals/score.ts'
import type { TimelineEvent } from '../../../../domain/signals/timeline.ts'
import type { AccountScore, AccountView } from '../../model/watching/signals-port.ts'
import { asTable, axisNumber, chart } from '../../view/chart.ts'
import { inlineText } from '../../view/foreign-text.ts'
import { connectorName, count, counted } from '../../view/format.ts'
import type { Page, Shell } from '../../view/layout.ts'
import { pager } from '../../view/pager.ts'
import { badge, card, empty, facts, instant, table, type Markup } from '../../view/parts.ts'
import { recordLink } from '../find.ts'
import { changeBadge, points, signalTitle } from './accounts.ts'

/** One account that is watched: its scores with every addend, and what was observed of it, the latest first. */
export function accountPage(
  { view, url }: { view: AccountView; url: string | undefined },
  shell: Shell,
): Page {
  const { account, scores } = view
  const { connector, entity, id, name } = account
  return {
    title: name ?? nameOf(account),
    lead: html`${
        connector === 'list'
          ? html`A row of the list <a href="/lists/${entity}">${inlineText(entity, 60)}</a>`
          : html`${connectorName(connector)} ${inlineText(entity, 40)}
            ${recordLink({ connector, entity }, id)}`
      }${url === undefined ? '' : html` · <a href="${url}" rel="noreferrer">Open in ${connectorName(connector)}</a>`}
      · <a href="/signals">All accounts</a>`,
    current: '/signals',
    body: html`${scores.map((score) => scoreCard(score, shell))} ${timelineCard(view, shell)}
    ${card('facts', 'What is known', factList(view))} ${checksCard(view, shell)}`,
  }
}

const mostAddends = 25

function scoreCard(score: AccountScore, { now }: Shell): Markup {
  const { pipeline, hundredths, changeHundredths, comparedWith, addends, unscored } = score
  const counting = addends.filter((addend) => addend.hundredths !== 0)
  const rest = counting.slice(mostAddends).reduce((sum, addend) => sum + addend.hundredths, 0)
  const notes = [
    ...(counting.length > mostAddends
      ? [`${counted(counting.length - mostAddends, 'more addend')} of ${points(rest)} points in all`]
      : []),
    ...(addends.length > counting.length
      ? [`${counted(addends.length - counting.length, 'signal')} too old to count`]
      : []),
    ...(unscored > 0 ? [`${counted(unscored, 'signal')} that no rule fits`] : []),
  ]
  return card(
    `score-${pipeline}`,
    `Score in ${pipeline}`,
    html`<p class="score">
        <span class="value">${points(hundredths)}</span> ${changeBadge(changeHundredths)}
        <small>${comparedWith === null ? 'no score of a week before' : `since ${comparedWith} (UTC)`}</small>
      </p>
      ${historyChart(score, now)}
      ${
        counting.length === 0
          ? empty('No signal counts for its score.')
          : table<Addend<SeenSignal>>(
              'Every addend of the score, the strongest first',
              [
                {
                  name: 'Signal',
                  isHead: true,
                  cell: ({ signal }) => html`${signalTitle(signal)}<small>${typeNames[signal.type]}</small>`,
                },
                { name: 'Points', isNumber: true, cell: ({ pointsHundredths }) => points(pointsHundredths) },
                { name: 'Rule', isNumber: true, cell: ({ rule }) => String(rule) },
                {
                  name: 'Age',
                  isNumber: true,
                  cell: ({ ageDays, halfLifeDays }) =>
                    html`${counted(ageDays, 'day')} <small>halved every ${count(halfLifeDays)}</small>`,
                },
                { name: 'Left', isNumber: true, cell: (addend) => points(addend.hundredths) },
              ],
              counting.slice(0, mostAddends),
            )
      }
      ${notes.length === 0 ? '' : html`<p class="note below">And ${notes.join('; ')}.</p>`}`,
  )
}

const chartDays = 60

/** The score of each day, where there are at least two of them. */
function historyChart({ history, hundredths }: AccountScore, now: Date): Markup | string {
  const today = utcDay(now)
  const days = Array.from({ length: chartDays }, (_, at) => dayBefore(today, chartDays - 1 - at))
  const byDay = new Map(history.map((each) => [each.day, each]))
  const known = days.flatMap((day) => byDay.get(day) ?? [])
  if (known.length < 2) return ''
  return html`${chart({
    kind: 'lines',
    label: `Score by day over ${chartDays} days, now ${points(hundredths)}; the table below lists each day`,
    // The axis begins at 0: a score below it is in the table.
    series: [{ name: 'score', values: scoresOf(days, byDay) }],
    format: axisNumber,
    axis: [days[0]!, days[chartDays / 2]!, today],
    caption: 'A point is the score of the last run on or before that day, in UTC',
  })}
  ${asTable(
    table<DayScore>(
      'Score by day',
      [
        { name: 'Day', isHead: true, cell: ({ day }) => day },
        { name: 'Score', isNumber: true, cell: (each) => points(each.hundredths) },
        { name: 'Stage', cell: ({ stage }) => (stage === null ? '–' : inlineText(stage, 40)) },
      ],
      known.toReversed(),
      { isNarrow: true },
    ),
  )}`
}

function scoresOf(days: readonly string[], byDay: ReadonlyMap<string, DayScore>): (number | undefined)[] {
  let last: number | undefined
  return days.map((day) => {
    const score = byDay.get(day)
    if (score) last = Math.max(0, score.hundredths / 100)
    return last
  })
}

function timelineCard({ account, events, total, page, pages }: AccountView, { now }: Shell): Markup {
  const href = (to: number) =>
    `/signals/account?${new URLSearchParams({ record: nameOf(account), page: String(to) }).toString()}#timeline-title`
  return card(
    'timeline',
    'Timeline',
    events.length === 0
      ? empty('Nothing was observed of this account.')
      : html`${table<TimelineEvent>(
          'What was observed, the latest first',
          [
            {
              name: 'What',
              isHead: true,
              cell: (event) =>
                event.kind === 'stage'
                  ? html`${inlineText(event.from, 40)} → ${inlineText(event.to, 40)}`
                  : html`${signalTitle(event.signal)}${
                      event.signal.place === null
                        ? ''
                        : html`<small>${inlineText(event.signal.place, 80)}</small>`
                    }`,
            },
            {
              name: 'Kind',
              cell: (event) =>
                event.kind === 'stage'
                  ? badge('stage', 'accent', 'stage')
                  : html`${typeNames[event.signal.type]}${event.kind === 'ended' ? html` ${badge('ended', 'quiet', 'ended')}` : ''}`,
            },
            {
              name: 'Strength',
              cell: (event) =>
                event.kind === 'stage' || event.signal.strength === null
                  ? '–'
                  : inlineText(event.signal.strength, 40),
            },
            { name: 'When', cell: (event) => whenOf(event, now) },
          ],
          events,
        )}
        ${pager('Pages of the timeline', {
          previous: page > 1 ? { href: href(page - 1), text: 'Later' } : undefined,
          next: page < pages ? { href: href(page + 1), text: 'Earlier' } : undefined,
        })}`,
    { note: total > 0 ? counted(total, 'event') : '' },
  )
}

/** The time at which something happened, or else at which it was seen first, which is not the same. */
function whenOf(event: TimelineEvent, now: Date): Markup {
  const day = html`<time datetime="${event.at.toISOString()}">${utcDay(event.at)}</time>`
  const isSeenFirst = event.kind === 'stage' || (event.kind === 'signal' && event.signal.happenedAt === null)
  if (isSeenFirst) return html`<small>seen first</small> ${day}`
  return event.at > now ? html`<small>from</small> ${day}` : day
}

function factList({ account, direction, markets, serviceId }: AccountView): Markup {
  return facts([
    ['Stage', account.stage === null ? 'not told' : inlineText(account.stage, 60)],
    ['Direction', direction === null ? 'not told' : inlineText(direction, 60)],
    ['Markets', markets.length === 0 ? 'none told' : inlineText(markets.join(', '), 120)],
    [
      'At the service',
      serviceId === null ? 'not found yet' : html`<code>${inlineText(serviceId, 40)}</code>`,
    ],
  ])
}

function checksCard({ checks }: AccountView, { now }: Shell): Markup {
  return card(
    'checks',
    'Last checks',
    checks.length === 0
      ? empty('No type was asked for yet: run its pipeline.')
      : table<AccountView['checks'][number]>(
          'The last check of each type',
          [
            {
              name: 'Type',
              isHead: true,
              cell: ({ type, pipeline }) => html`${typeNames[type]}<small>${pipeline}</small>`,
            },
            { name: 'When', cell: ({ checkedAt }) => instant(checkedAt, now) },
            {
              name: 'Outcome',
              cell: ({ isMatched, reason }) =>
                isMatched
                  ? badge('answered')
                  : html`${badge('unknown', 'warn', 'unknown to the service')}${reason === null ? '' : html` <small>${inlineText(reason, 120)}</small>`}`,
            },
          ],
          checks,
        ),
  )
}
