import { html } from 'hono/html'
import type { Markup } from './parts.ts'

interface Turn {
  href: string
  text: string
}

/** Links to the page before and behind this one. Empty when there is neither. */
export function pager(
  label: string,
  { previous, next }: { previous?: Turn | undefined; next?: Turn | undefined },
): Markup {
  if (!previous && !next) return html``
  return html`<nav class="pager" aria-label="${label}">
    ${previous ? html`<a rel="prev" href="${previous.href}">← ${previous.text}</a>` : html`<span></span>`}
    ${next ? html`<a rel="next" href="${next.href}">${next.text} →</a>` : ''}
  </nav>`
}
