import { html } from 'hono/html'
import type { Funnel, RunHead, RunReason } from '../../../../store/views/desk-runs.ts'
import { paidPer } from '../../model/paid-per.ts'
import { blockText } from '../../view/foreign-text.ts'
import { cost, count, percent, runName } from '../../view/format.ts'
import type { Page, Shell } from '../../view/layout.ts'
import { badge, card, empty, instant, table, type Markup } from '../../view/parts.ts'

export interface ComparedRun {
  run: RunHead
  funnel: Funnel
  reasons: RunReason[]
}

/** A run beside the last one of the same source. */
export function comparisonPage(
  { run, other }: { run: ComparedRun; other: ComparedRun | undefined },
  { now }: Shell,
): Page {
  const title = `Comparison of ${runName(run.run)}`
  const back = html`<a href="/runs/${run.run.id}">Back to the run</a>`
  if (!other)
    return {
      title,
      lead: back,
      current: '/runs',
      body: html`<section class="card">
        ${empty('No earlier run of the same source: the same object or file, with the same recipe.')}
      </section>`,
    }
  const started = ({ run: { id, startedAt } }: ComparedRun) =>
    html`<a href="/runs/${id}"><code>${id}</code></a> ${instant(startedAt, now)}`
  return {
    title,
    lead: html`This run, ${started(run)}, beside the last one of the same source, ${started(other)}. ${back}`,
    current: '/runs',
    body: html`${card(
      'figures',
      'Figures',
      table<Figure>(
        'Figures of both runs',
        [
          { name: 'Figure', isHead: true, cell: ({ name }) => name },
          { name: 'This run', isNumber: true, cell: (figure) => figure.shown(run.funnel) },
          { name: 'Last run', isNumber: true, cell: (figure) => figure.shown(other.funnel) },
          { name: 'Change', isNumber: true, cell: (figure) => figure.change(run.funnel, other.funnel) },
        ],
        figures,
      ),
    )}
    ${card('reasons', 'Not written, or not in full', reasonTable(run, other))}`,
  }
}

interface Figure {
  name: string
  shown: (funnel: Funnel) => string
  change: (funnel: Funnel, other: Funnel) => string
}

const figures: Figure[] = [
  counted('Records', ({ records }) => records),
  counted('Looked up', ({ asked }) => asked),
  counted('Matched', ({ matched }) => matched),
  shared('Match rate', ({ matched, asked }) => [matched, asked]),
  counted('Written', ({ filled }) => filled),
  counted('Changed', ({ changed }) => changed),
  counted('Rejected', ({ rejected }) => rejected),
  counted('Parked', ({ parked }) => parked),
  paid('Cost', () => 1),
  paid('Cost per matched record', ({ matched }) => matched),
  paid('Cost per written record', ({ filled }) => filled),
]

function counted(name: string, of: (funnel: Funnel) => number): Figure {
  return {
    name,
    shown: (funnel) => count(of(funnel)),
    change: (funnel, other) => signed(of(funnel) - of(other), count),
  }
}

function shared(name: string, of: (funnel: Funnel) => [part: number, whole: number]): Figure {
  const share = (funnel: Funnel) => {
    const [part, whole] = of(funnel)
    return whole > 0 ? part / whole : undefined
  }
  return {
    name,
    shown: (funnel) => percentOr(share(funnel)),
    change(funnel, other) {
      const [now, then] = [share(funnel), share(other)]
      if (now === undefined || then === undefined) return '–'
      return signed(Math.round((now - then) * 1000) / 10, (points) => `${points.toFixed(1)} points`)
    },
  }
}

function paid(name: string, per: (funnel: Funnel) => number): Figure {
  const amounts = (funnel: Funnel) => paidPer(funnel, per(funnel))
  const text = (amount: ReturnType<typeof amounts>) => (amount ? cost(amount.usd, amount.credits) : '–')
  return {
    name,
    shown: (funnel) => text(amounts(funnel)),
    change(funnel, other) {
      const [now, then] = [amounts(funnel), amounts(other)]
      if (!now || !then) return '–'
      const [usd, credits] = [now.usd - then.usd, now.credits - then.credits]
      if (usd === 0n && credits === 0n) return '0'
      // In two currencies there is no one difference.
      if (usd !== 0n && credits !== 0n) return '–'
      const difference = usd + credits
      const size = difference < 0n ? -difference : difference
      return `${difference < 0n ? '−' : '+'}${usd === 0n ? cost(0n, size) : cost(size, 0n)}`
    },
  }
}

function signed(difference: number, text: (size: number) => string): string {
  if (difference === 0) return '0'
  return `${difference < 0 ? '−' : '+'}${text(Math.abs(difference))}`
}

function percentOr(share: number | undefined): string {
  return share === undefined ? '–' : percent(share)
}

interface ReasonPair {
  status: RunReason['status']
  reason: string
  here: number
  there: number
}

function reasonTable(run: ComparedRun, other: ComparedRun): Markup {
  const pairs = new Map<string, ReasonPair>()
  const add = ({ status, reason, records }: RunReason, side: 'here' | 'there') => {
    const key = JSON.stringify([status, reason])
    const pair = pairs.get(key) ?? { status, reason, here: 0, there: 0 }
    pairs.set(key, { ...pair, [side]: records })
  }
  for (const reason of run.reasons) add(reason, 'here')
  for (const reason of other.reasons) add(reason, 'there')
  const rows = [...pairs.values()].sort((a, b) => b.here - a.here || b.there - a.there)
  if (rows.length === 0) return empty('No record of either run was skipped, rejected or parked.')
  return table<ReasonPair>(
    'The most frequent reasons of both runs',
    [
      { name: 'Reason', isHead: true, cell: ({ reason }) => blockText(reason) },
      { name: 'Status', cell: ({ status }) => badge(status) },
      { name: 'This run', isNumber: true, cell: ({ here }) => count(here) },
      { name: 'Last run', isNumber: true, cell: ({ there }) => count(there) },
      { name: 'Change', isNumber: true, cell: ({ here, there }) => signed(here - there, count) },
    ],
    rows,
  )
}
