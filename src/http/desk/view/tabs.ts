import { html } from 'hono/html'
import { count } from './format.ts'
import type { Markup } from './parts.ts'

interface Tab {
  text: Markup | string
  /** Absent: nothing is counted. */
  number?: number | undefined
  href: string
  isChosen: boolean
}

/** Links that choose a part of what a page shows, each with the number of its rows. */
export function tabs(label: string, items: readonly Tab[]): Markup {
  return html`<nav class="tabs" aria-label="${label}">
    <ul>
      ${items.map(
        ({ text, number, href, isChosen }) =>
          html`<li>
            <a href="${href}" ${isChosen ? html`aria-current="true"` : ''}
              >${text}${number === undefined ? '' : html` <span>${count(number)}</span>`}</a
            >
          </li>`,
      )}
    </ul>
  </nav>`
}
