import { html } from 'hono/html'
import { icon } from './icons.ts'
import type { Markup } from './parts.ts'

interface Stop {
  action: string
  /** The name of the action: "Stop this run". */
  ask: string
  confirm: string
  effect: string
}

/** Asks whether and why to stop something. The disclosure works without a script and prevents accidental stops. */
export function stopForm({ action, ask, confirm, effect }: Stop, csrf: Markup): Markup {
  return html`<details class="ask">
    <summary class="kill">${icon('stop')}${ask}</summary>
    <form method="post" action="${action}">
      ${csrf}
      <p>${effect}</p>
      <label
        >Reason
        <input name="reason" maxlength="200" autocomplete="off" placeholder="shown to other operators"
      /></label>
      <button class="danger" type="submit">${confirm}</button>
    </form>
  </details>`
}
