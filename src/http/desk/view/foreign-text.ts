import { html } from 'hono/html'
import { count } from './format.ts'
import type { Markup } from './parts.ts'

/**
 * Texts that a person, a CRM, a file or the service wrote. They may have any length, run from right to left, or contain
 * characters that change the direction of what follows, so each is isolated in a `bdi` and cut off.
 */

/** Cuts a text off after `most` characters, and replaces the control characters, which no page shows. */
export function shortened(text: string, most: number): string {
  // Cut by code units first: to split 5,000 characters for the first 80 of them is wasted work.
  const characters = [...text.slice(0, most * 2 + 2).replaceAll(/\p{Cc}/gu, ' ')]
  const isWhole = characters.length <= most && text.length <= most * 2 + 2
  return (isWhole ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`).toWellFormed()
}

/** Shows a text within a line, a heading or a link. The whole text is its tooltip. */
export function inlineText(text: string, most = 80): Markup {
  const short = shortened(text, most)
  return short.endsWith('…') && short !== text
    ? html`<bdi title="${text.slice(0, 1_000)}">${short}</bdi>`
    : html`<bdi>${short}</bdi>`
}

/** Shows the beginning of a text, and the whole on request. Not for a paragraph or a heading: these cannot hold it. */
export function blockText(text: string, most = 200): Markup {
  return html`${inlineText(text, most)}${wholeText(text, most)}`
}

/** Returns what opens the whole of a text that is longer than `most`; nothing for a shorter one. */
export function wholeText(text: string, most: number): Markup {
  const { length } = [...text]
  if (length <= most) return html``
  return html`<details class="whole">
    <summary>Show all ${count(length)} characters</summary>
    <bdi>${text.replaceAll(/[^\P{Cc}\n]/gu, ' ').toWellFormed()}</bdi>
  </details>`
}
