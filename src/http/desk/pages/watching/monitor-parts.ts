import { html } from 'hono/html'
import type { MonitorView } from '../../model/watching/monitors-port.ts'
import { inlineText } from '../../view/foreign-text.ts'
import { count, words } from '../../view/format.ts'
import { badge, instant, type Markup } from '../../view/parts.ts'

const statusTones: Readonly<Record<string, 'ok' | 'warn' | 'quiet'>> = {
  active: 'ok',
  paused: 'warn',
  inactive: 'warn',
  draft: 'quiet',
}

/** The status at the service, as far as it was read; else that of the settings. */
export function statusBadge({ known, status, declaredStatus }: MonitorView): Markup {
  if (!known) return badge('not made', 'warn', 'not made yet')
  const word = status ?? declaredStatus
  // A word that nobody knows has any length: a badge does not break.
  const tone = statusTones[word]
  const shown = tone ? badge(word, tone, word) : inlineText(words(word), 40)
  if (status === undefined) return html`${shown} <small>by the settings</small>`
  return status === declaredStatus ? shown : html`${shown} <small>settings: ${words(declaredStatus)}</small>`
}

/** Says whether the last comparison found a difference, and when that was. */
export function driftBadge({ known }: MonitorView, now: Date): Markup {
  if (!known?.comparedAt) return html`<small>never compared</small>`
  return html`${known.differs ? badge('differs', 'warn', 'differs') : badge('as declared', 'ok', 'as declared')}
    <small>${instant(known.comparedAt, now)}</small>`
}

type Counts = readonly { outcome: string; deliveries: number; repeats: number }[]

/** "12 worked, 3 repeated": deliveries by their outcome. */
export function deliveryTotals(counts: Counts): Markup | string {
  const byOutcome = new Map<string, number>()
  for (const { outcome, deliveries } of counts)
    byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + deliveries)
  if (byOutcome.size === 0) return 'none'
  return inlineText(
    [...byOutcome].map(([outcome, deliveries]) => `${count(deliveries)} ${words(outcome)}`).join(', '),
    120,
  )
}
