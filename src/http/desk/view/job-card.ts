import { html } from 'hono/html'
import type { DeskJob } from '../model/desk-job.ts'
import { blockText, inlineText } from './foreign-text.ts'
import { card, instant, type Markup } from './parts.ts'

/** Says what an action that was started here is doing, or has done. `more` is shown when it has ended. */
export function jobCard(
  title: string,
  { by, startedAt, progress, ended }: DeskJob,
  now: Date,
  more: Markup | string = '',
): Markup {
  const started = html`Started by ${inlineText(by)}, ${instant(startedAt, now)}.`
  if (!ended)
    return card(
      'job',
      title,
      html`<p role="status">
        ${started} ${progress === '' ? 'It is at work' : html`So far: ${progress}`}; this page reloads by
        itself, and you can leave it.
      </p>`,
    )
  return card(
    'job',
    title,
    html`<p>${started}</p>
      ${
        ended.isDone
          ? html`<p role="status">${blockText(ended.text, 300)}.</p>`
          : html`<div class="problem" role="alert">${blockText(ended.text, 600)}</div>`
      }
      ${more}`,
  )
}
