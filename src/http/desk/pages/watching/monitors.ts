import { html } from 'hono/html'
import { mayAct } from '../../access/access.ts'
import type { MonitorJob, MonitorsView, MonitorView } from '../../model/watching/monitors-port.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { cost, count, counted, words } from '../../view/format.ts'
import { jobCard } from '../../view/job-card.ts'
import { csrf, type Page, type Shell } from '../../view/layout.ts'
import { badge, card, empty, instant, table, type Markup } from '../../view/parts.ts'
import { deliveryTotals, driftBadge, statusBadge } from './monitor-parts.ts'

export interface MonitorsPageView {
  view: MonitorsView
  job: MonitorJob | undefined
  refused?: string | undefined
}

const lead =
  'Watches at the service that the settings declare: their state, what they delivered, and what came of it.'

/** Every monitor of the settings, and the deliveries of monitors that are not in them. */
export function monitorsPage({ view, job, refused }: MonitorsPageView, shell: Shell): Page {
  const { monitors, others, headers } = view
  return {
    title: 'Monitors',
    lead,
    current: '/monitors',
    body: html`${refused === undefined ? '' : html`<div class="problem" role="alert">${blockText(refused, 600)}</div>`}
    ${job ? monitorJob(job, shell) : ''}
    ${card(
      'monitors',
      'Monitors',
      monitors.length === 0
        ? empty(
            'No monitor is declared. Name one under monitors in paydirt.config.ts, restart, and make it with paydirt monitors apply; docs/monitors.md has an example.',
          )
        : monitorsTable(monitors, shell),
    )}
    ${monitors.length > 0 ? compareCard(view, job, shell) : ''}
    ${others.length > 0 ? card('others', 'Deliveries of others', othersTable(others), { note: 'Of monitors that the settings do not name; no work is declared for them' }) : ''}
    ${
      headers.length > 0
        ? card(
            'headers',
            'Headers of deliveries',
            html`<p>
              Nothing here reads
              ${headers.map(({ name }, at) => html`${at > 0 ? ', ' : ''}<code>${inlineText(name, 60)}</code>`)}.
              Should the service sign its deliveries in one of them, <code>http.monitor.signature</code>
              checks it.
            </p>`,
          )
        : ''
    }`,
  }
}

export function monitorJob(job: MonitorJob, { now }: Shell): Markup {
  const { kind, monitor = '' } = job
  const titles = { compare: 'Comparison', pause: `Pausing ${monitor}`, resume: `Resuming ${monitor}` }
  return jobCard(titles[kind], job, now)
}

function monitorsTable(monitors: readonly MonitorView[], { now }: Shell): Markup {
  return table<MonitorView>(
    'Monitors of the settings',
    [
      {
        name: 'Monitor',
        isHead: true,
        cell: ({ name, mode, signalTypes }) =>
          html`<a href="/monitors/${name}">${name}</a
            ><small
              >${inlineText(words(mode), 40)} · ${inlineText(signalTypes.map(words).join(', '), 60)}</small
            >`,
      },
      { name: 'State', cell: statusBadge },
      { name: 'Drift', cell: (monitor) => driftBadge(monitor, now) },
      {
        name: 'Deliveries',
        cell: (monitor) => deliveryTotals(monitor.known?.deliveries ?? []),
      },
      {
        name: 'Missed',
        isNumber: true,
        cell: ({ known }) => (known?.log.readAt ? count(known.log.missing) : '–'),
      },
      {
        name: 'Matches',
        isNumber: true,
        cell: ({ matches }) => count(matches.reduce((sum, each) => sum + each.matches, 0)),
      },
      {
        name: 'Cost',
        isNumber: true,
        cell: ({ known }) => (known ? cost(known.cost.usdAtomic, known.cost.credits) : '–'),
      },
      {
        name: 'Last delivery',
        cell: ({ known }) => instant(known?.lastDeliveryAt, now, { none: 'none' }),
      },
    ],
    monitors,
  )
}

/** The last comparison with the service, and the question for a new one. */
export function compareCard(
  { compared, monitors }: MonitorsView,
  job: MonitorJob | undefined,
  { visitor, now }: Shell,
): Markup {
  const isOperator = visitor.role !== undefined && mayAct(visitor.role, 'operator')
  const isBusy = job !== undefined && !job.ended
  const times = monitors.flatMap(({ known }) => known?.comparedAt?.getTime() ?? [])
  const last = compared?.at ?? (times.length > 0 ? new Date(Math.max(...times)) : undefined)
  const changes = compared?.steps.filter((step) => step.do !== 'nothing') ?? []
  return card(
    'comparison',
    'Compared with the service',
    html`<p class="above">
        ${last === undefined ? 'Never compared.' : html`Compared last ${instant(last, now)}.`}
        ${compared && compared.foreign > 0 ? html`${counted(compared.foreign, 'monitor')} of others, never touched.` : ''}
      </p>
      ${
        changes.length > 0
          ? html`<ul class="plain-list evidence above">
              ${changes.map(
                (step) =>
                  html`<li>
                    ${badge(step.do, 'warn', step.do)} <a href="/monitors/${step.name}">${step.name}</a>
                    ${'changes' in step ? html`<small>${step.changes.map(({ field }) => words(field)).join(', ')}</small>` : ''}
                  </li>`,
              )}
            </ul>`
          : ''
      }
      ${compared?.warnings.map((warning) => html`<div class="problem" role="alert">${blockText(warning, 300)}</div>`) ?? ''}
      ${
        changes.length > 0
          ? html`<p class="note above">
              <code>paydirt monitors apply</code> brings the service to what the settings say.
            </p>`
          : ''
      }
      ${
        isOperator
          ? isBusy
            ? html`<p class="note">One action at a time: the one above is at work.</p>`
            : html`<form class="actions" method="post" action="/monitors/compare">
                ${csrf(visitor)}<button type="submit">Compare now</button>
                <p class="note">
                  Asks the service for its monitors, which it may charge for, and changes nothing there.
                </p>
              </form>`
          : ''
      }`,
  )
}

function othersTable(others: MonitorsView['others']): Markup {
  return table<MonitorsView['others'][number]>(
    'Deliveries of monitors that the settings do not name',
    [
      {
        name: 'Monitor',
        isHead: true,
        cell: ({ monitor }) => (monitor === '' ? 'names none' : inlineText(monitor, 60)),
      },
      { name: 'Outcome', cell: ({ outcome }) => words(outcome) },
      { name: 'Timing', cell: ({ timing }) => words(timing) },
      { name: 'Deliveries', isNumber: true, cell: ({ deliveries }) => count(deliveries) },
      { name: 'Repeats', isNumber: true, cell: ({ repeats }) => count(repeats) },
    ],
    others,
  )
}
