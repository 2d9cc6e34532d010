import { html } from 'hono/html'
import { formatUsd } from '../../../../domain/money.ts'
import type { PipelineJob, PipelinePlan, PipelineView } from '../../model/watching/signals-port.ts'
import { inlineText } from '../../view/foreign-text.ts'
import { count, counted, stamp, usd } from '../../view/format.ts'
import { csrf, type Shell } from '../../view/layout.ts'
import { card, table, type Markup } from '../../view/parts.ts'

/** Plan and run: each says what it does, and the run asks for a budget. */
export function pipelineActions(
  { name, budgetAtomic }: PipelineView,
  job: PipelineJob | undefined,
  { visitor }: Shell,
): Markup {
  const token = csrf(visitor)
  if (job && !job.ended)
    return card(
      'actions',
      'Actions',
      html`<p class="note">One action at a time: the one above is at work.</p>`,
    )
  return card(
    'actions',
    'Actions',
    html`<div class="actions">
      <form method="post" action="/signals/${name}/plan">
        ${token}<button type="submit">Plan</button>
        <p class="note">Reads the accounts and says what is due and what it may cost. Buys nothing.</p>
      </form>
      <details class="ask">
        <summary>Run</summary>
        <form method="post" action="/signals/${name}/run">
          ${token}
          <p>
            Buys what is due, within the budget, and writes what was observed into the records. What is known
            already is not bought again.
          </p>
          <label
            >Budget in USD
            <input
              name="budget"
              inputmode="decimal"
              autocomplete="off"
              required
              value="${budgetAtomic === undefined ? '' : formatUsd(budgetAtomic).replace(/(\.\d\d)0+$/, '$1')}"
          /></label>
          <button class="primary" type="submit">Yes, run within the budget</button>
        </form>
      </details>
    </div>`,
    { note: 'Nothing is paid before you have confirmed it' },
  )
}

const mostSkipped = 10

/** The last plan that was made in this process. */
export function planCard(plan: PipelinePlan, { now }: Shell): Markup {
  const { madeAt, accounts, due, periods: rows, skipped, suppressed } = plan
  const dueTexts = Object.entries(due).map(([type, checks]) => `${count(checks)} ${type}`)
  return card(
    'plan',
    'Plan',
    html`<p class="above">
        ${counted(accounts, 'account')}. Due now: ${dueTexts.length > 0 ? dueTexts.join(', ') : 'nothing'}.
      </p>
      ${table<PipelinePlan['periods'][number]>(
        'Requests and the most that they cost',
        [
          { name: 'Period', isHead: true, cell: ({ period }) => period },
          {
            name: 'Requests',
            isNumber: true,
            cell: ({ least, likely }) =>
              least === likely ? count(least) : `${count(least)} to ${count(likely)}`,
          },
          {
            name: 'At most',
            isNumber: true,
            cell: ({ leastAtomic, likelyAtomic }) =>
              leastAtomic === likelyAtomic ? usd(leastAtomic) : `${usd(leastAtomic)} to ${usd(likelyAtomic)}`,
          },
        ],
        rows,
      )}
      ${
        skipped.length > 0
          ? html`<details class="more-table">
              <summary>${counted(skipped.length, 'account')} left out</summary>
              <ul class="plain-list">
                ${skipped.slice(0, mostSkipped).map(({ place, reason }) => html`<li>${inlineText(place)}: ${inlineText(reason, 200)}</li>`)}
                ${skipped.length > mostSkipped ? html`<li>and ${count(skipped.length - mostSkipped)} more</li>` : ''}
              </ul>
            </details>`
          : ''
      }
      ${suppressed > 0 ? html`<p class="note">${counted(suppressed, 'account')} suppressed.</p>` : ''}`,
    { note: `Made ${stamp(madeAt, now)}` },
  )
}
