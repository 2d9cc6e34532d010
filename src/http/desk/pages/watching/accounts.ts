import { html } from 'hono/html'
import { utcDay } from '../../../../domain/signals/change.ts'
import { typeNames } from '../../../../domain/signals/reason.ts'
import { nameOf, type Evidence, type ReportedName } from '../../../../domain/signals/report.ts'
import { pointsText, type SeenSignal } from '../../../../domain/signals/score.ts'
import { evidenceLink } from '../../../../domain/signals/evidence-link.ts'
import { inlineText } from '../../view/foreign-text.ts'
import { badge, type Markup } from '../../view/parts.ts'

/** Points as a person reads them, with a sign that does not break. */
export function points(hundredths: number): string {
  return pointsText(hundredths).replace('-', '−')
}

/** The change of a score, with its sign; an account without an earlier score says so. */
export function changeBadge(hundredths: number | null): Markup {
  if (hundredths === null) return badge('first score', 'accent', 'first score')
  const text = `${hundredths > 0 ? '+' : hundredths < 0 ? '' : '±'}${points(hundredths)}`
  return badge(text, hundredths > 0 ? 'ok' : 'quiet', text)
}

/** Links to the page of an account: its name, and below it the record. */
export function accountName(account: ReportedName): Markup {
  const record = nameOf(account)
  return html`<a href="/signals/account?record=${encodeURIComponent(record)}"
      >${inlineText(account.name ?? record)}</a
    >${account.name === null ? '' : html`<small>${inlineText(record, 60)}</small>`}`
}

/** The title of a signal, which links to where it was seen. */
export function signalTitle({ title, link }: Pick<SeenSignal, 'title' | 'link'>): Markup {
  const address = evidenceLink(link)
  const shown = title === null || title.trim() === '' ? html`without a title` : inlineText(title, 100)
  return address === undefined ? shown : html`<a href="${address}" rel="noopener noreferrer">${shown}</a>`
}

export function evidenceLine(evidence: Evidence): Markup {
  const { type, at, isSeenFirst, isNew, hundredths } = evidence
  return html`${signalTitle(evidence)}
    <small
      >${typeNames[type]} · ${isSeenFirst ? 'seen first ' : ''}${utcDay(at)} · ${points(hundredths)}
      ${Math.abs(hundredths) === 100 ? 'point' : 'points'}${isNew ? ' · new' : ''}</small
    >`
}
