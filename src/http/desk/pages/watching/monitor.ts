import { html } from 'hono/html'
import { mayAct } from '../../access/access.ts'
import type { MatchPage, MonitorJob, MonitorsView, MonitorView } from '../../model/watching/monitors-port.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { cost, count, counted, usd, words } from '../../view/format.ts'
import { csrf, type Page, type Shell } from '../../view/layout.ts'
import { pager } from '../../view/pager.ts'
import { badge, card, empty, facts, instant, table, type Markup } from '../../view/parts.ts'
import { driftBadge, statusBadge } from './monitor-parts.ts'
import { compareCard, monitorJob } from './monitors.ts'

export interface MonitorPageView {
  view: MonitorsView
  monitor: MonitorView
  matches: MatchPage
  job: MonitorJob | undefined
  refused?: string | undefined
}

/** One monitor: its state, the last comparison field by field, its deliveries, and the matches that came of them. */
export function monitorPage(page: MonitorPageView, shell: Shell): Page {
  const { view, monitor, job, refused } = page
  const isOperator = shell.visitor.role !== undefined && mayAct(shell.visitor.role, 'operator')
  return {
    title: monitor.name,
    lead: html`A monitor in ${inlineText(words(monitor.mode), 40)} for
      ${inlineText(monitor.signalTypes.map(words).join(', '), 80)}. <a href="/monitors">All monitors</a>`,
    current: '/monitors',
    body: html`${refused === undefined ? '' : html`<div class="problem" role="alert">${blockText(refused, 600)}</div>`}
      ${job ? monitorJob(job, shell) : ''} ${warnings(monitor)} ${changesCard(page)}
      <div class="columns even">
        ${card('facts', 'State', factList(monitor, shell))}
        <div class="column">
          ${isOperator && monitor.known ? statusCard(page, shell) : ''} ${compareCard(view, job, shell)}
        </div>
      </div>
      ${deliveriesCard(monitor)} ${matchesCard(page, shell)}`,
  }
}

function warnings({ enrichesByItself, known }: MonitorView): Markup {
  return html`${
    enrichesByItself
      ? html`<p class="notice">
          The service enriches people of this monitor by itself, with credits that no budget here limits:
          <code>paydirt reconcile</code> shows them.
        </p>`
      : ''
  }${known?.log.problem ? html`<div class="problem" role="alert">Its log was not read: ${blockText(known.log.problem, 300)}</div>` : ''}`
}

function factList(monitor: MonitorView, { now }: Shell): Markup {
  const { known, webhook, month, dayCapAtomic } = monitor
  return facts([
    ['At the service', statusBadge(monitor)],
    ['Drift', driftBadge(monitor, now)],
    ...(known
      ? [
          ['Id', html`<code>${inlineText(known.monitorId, 60)}</code>`] as const,
          ['Known since', instant(known.since, now)] as const,
        ]
      : []),
    [
      'Webhook',
      webhook === undefined
        ? 'none: read from its log'
        : webhook === 'auto'
          ? 'this installation'
          : inlineText(webhook, 80),
    ],
    ['Last delivery', instant(known?.lastDeliveryAt, now, { none: 'none' })],
    ['Log read', instant(known?.log.readAt, now, { none: 'never' })],
    ...(known?.log.readAt
      ? [
          [
            'Missed',
            known.log.missing === 0
              ? `none of ${counted(known.log.entries, 'detection')}`
              : `${count(known.log.missing)} of ${counted(known.log.entries, 'detection')}, worked from the log`,
          ] as const,
          ['Log read again', instant(known.log.nextAt, now, { none: 'not planned' })] as const,
        ]
      : []),
    ['Cost of its matches', known ? cost(known.cost.usdAtomic, known.cost.credits) : '–'],
    [
      `Spent in ${month.month}`,
      `${usd(month.spentAtomic)}${month.capAtomic === undefined ? '' : ` of ${usd(month.capAtomic)}`}`,
    ],
    ...(dayCapAtomic === undefined ? [] : [['Cap of a day', usd(dayCapAtomic)] as const]),
  ])
}

/** Pause, or resume, or both while nobody has seen which of them it needs. */
function statusCard({ monitor, job }: MonitorPageView, { visitor }: Shell): Markup | string {
  if (job && !job.ended) return ''
  const { name, status, declaredStatus } = monitor
  const actions = [
    {
      action: 'pause',
      text: 'Pause',
      effect: 'The service stops watching until it is resumed. What was delivered is still worked.',
      isOffered: status !== 'paused',
    },
    {
      action: 'resume',
      text: 'Resume',
      effect: 'The service watches again, and delivers what it finds.',
      isOffered: status !== 'active',
    },
  ]
  return card(
    'actions',
    'Actions',
    html`<div class="actions">
      ${actions
        .filter(({ isOffered }) => isOffered)
        .map(
          ({ action, text, effect }) =>
            html`<details class="ask">
              <summary>${text}</summary>
              <form method="post" action="/monitors/${name}/${action}">
                ${csrf(visitor)}
                <p>
                  ${effect} It may charge for the change. The settings say
                  <strong>${words(declaredStatus)}</strong>, and <code>paydirt monitors apply</code> restores
                  that.
                </p>
                <button class="primary" type="submit">Yes, ${action} it at the service</button>
              </form>
            </details>`,
        )}
    </div>`,
  )
}

function changesCard({ view, monitor }: MonitorPageView): Markup | string {
  const step = view.compared?.steps.find((each) => each.name === monitor.name && each.do !== 'nothing')
  if (!step) return ''
  const texts = {
    create: 'It is not at the service: apply makes it.',
    update: 'It is not as the settings say: apply restores them.',
    pause: 'The settings say paused: apply pauses it.',
    replace: 'Its detection mode cannot change: apply --replace makes a new one, then deletes this one.',
    delete: 'Another one of this name is there: apply --prune deletes it.',
    decide: 'Several monitors bear its mark: delete those that are not wanted.',
    nothing: '',
  }
  return card(
    'changes',
    'Differences',
    html`<p class="above">${texts[step.do]}</p>
      ${
        'changes' in step
          ? table<(typeof step.changes)[number]>(
              'Fields that differ',
              [
                { name: 'Field', isHead: true, cell: ({ field }) => inlineText(field, 60) },
                { name: 'At the service', cell: ({ shown }) => inlineText(jsonText(shown), 300) },
                { name: 'In the settings', cell: ({ declared }) => inlineText(jsonText(declared), 300) },
              ],
              step.changes,
            )
          : ''
      }`,
  )
}

function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}

function deliveriesCard({ known }: MonitorView): Markup {
  const deliveries = known?.deliveries ?? []
  return card(
    'deliveries',
    'Deliveries',
    deliveries.length === 0
      ? empty(
          known
            ? 'Nothing was delivered yet. paydirt monitors test has the service send a test, which makes no work.'
            : 'It is not at the service yet: paydirt monitors apply makes it.',
        )
      : table<(typeof deliveries)[number]>(
          'Deliveries by outcome and timing',
          [
            { name: 'Outcome', isHead: true, cell: ({ outcome }) => words(outcome) },
            { name: 'Timing', cell: ({ timing }) => words(timing) },
            { name: 'Deliveries', isNumber: true, cell: (each) => count(each.deliveries) },
            { name: 'Repeats', isNumber: true, cell: ({ repeats }) => count(repeats) },
          ],
          deliveries,
        ),
    { note: 'A repeat is worked once' },
  )
}

const outcomeTones = { worked: 'ok', unknown: 'quiet', left: 'warn', failed: 'danger' } as const

function matchesCard(
  { monitor, matches: { matches, page, hasNext } }: MonitorPageView,
  { now }: Shell,
): Markup {
  const { name, worksMatches } = monitor
  const href = (to: number) => `/monitors/${name}?page=${to}#matches-title`
  const counts = monitor.matches.map(({ state, matches: number }) => `${count(number)} ${words(state)}`)
  return card(
    'matches',
    'Matches',
    matches.length === 0
      ? empty(
          worksMatches
            ? 'No company has matched yet.'
            : 'The settings declare no onMatch: companies that it names are enriched where their record exists.',
        )
      : html`${table<(typeof matches)[number]>(
          'Companies that matched, the latest first',
          [
            {
              name: 'Company',
              isHead: true,
              cell: ({ id, company }) =>
                html`<a href="/runs/${id}">${inlineText(company ?? 'forgotten', 80)}</a>`,
            },
            {
              name: 'State',
              cell: ({ state, outcome }) =>
                outcome === null
                  ? badge(
                      state,
                      state === 'review' ? 'warn' : 'accent',
                      state === 'review' ? 'waits for a person' : 'waiting',
                    )
                  : badge(outcome, outcomeTones[outcome], words(outcome)),
            },
            { name: 'Reason', cell: ({ reason }) => (reason === null ? '–' : inlineText(reason, 160)) },
            { name: 'Signals', isNumber: true, cell: ({ signals }) => count(signals) },
            { name: 'Taken', cell: ({ takenAt }) => instant(takenAt, now) },
          ],
          matches,
        )}
        ${pager('Pages of matches', {
          previous: page > 1 ? { href: href(page - 1), text: 'Later' } : undefined,
          next: hasNext ? { href: href(page + 1), text: 'Earlier' } : undefined,
        })}`,
    { note: counts.join(', ') },
  )
}
