import { html } from 'hono/html'
import { formatUsd } from '../../../../domain/money.ts'
import type { ListJob, ListQuote } from '../../model/lists/list-actions.ts'
import type { ListView } from '../../model/lists/lists-port.ts'
import { counted, usd } from '../../view/format.ts'
import { jobCard as jobCardOf } from '../../view/job-card.ts'
import { csrf, type Shell } from '../../view/layout.ts'
import { card, type Markup } from '../../view/parts.ts'

const names: Readonly<Record<ListJob['kind'], string>> = {
  preview: 'Preview',
  fetch: 'Fetch',
  plan: 'Plan',
  apply: 'Making records',
}

/** Says what an action that was started here is doing, or has done. */
export function jobCard(list: string, job: ListJob, { now }: Shell): Markup {
  const { kind, ended, planId } = job
  return jobCardOf(
    names[kind],
    job,
    now,
    html`${
      kind === 'plan' && ended?.isDone && planId !== undefined
        ? html`<p><a href="/lists/${list}/plans/${planId}">Look at the plan, and make its records</a></p>`
        : ''
    }
    ${
      kind === 'apply' && planId !== undefined
        ? html`<p>
            ${ended?.runId === undefined ? '' : html`<a href="/runs/${ended.runId}">Open its run</a> · `}<a
              href="/lists/${list}/plans/${planId}"
              >Its plan</a
            >
          </p>`
        : ''
    }`,
  )
}

/** Preview, fetch and plan: each says the most that it costs, and asks. */
export function actionsCard(
  list: ListView,
  quote: ListQuote,
  job: ListJob | undefined,
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
      ${previewForm(list, quote, token)} ${fetchForm(list, quote, token)} ${planForm(list, token)}
    </div>`,
    { note: 'Nothing is paid before you have confirmed it' },
  )
}

function previewForm({ name }: ListView, { hasFirst, pageAtomic }: ListQuote, token: Markup): Markup {
  if (hasFirst) return html``
  if (pageAtomic === undefined) return unknownPrice(name)
  return html`<details class="ask">
    <summary>Preview</summary>
    <form method="post" action="/lists/${name}/preview">
      ${token}<input type="hidden" name="most" value="${formatUsd(pageAtomic)}" />
      <p>
        Buys page 1: the total, the rows that can be reached, and the verdicts on the first rows. It costs
        <strong>${usd(pageAtomic)}</strong> at most.
      </p>
      <button class="primary" type="submit">Yes, buy page 1 for up to ${usd(pageAtomic)}</button>
    </form>
  </details>`
}

function fetchForm({ name, isComplete, isCurrent }: ListView, quote: ListQuote, token: Markup): Markup {
  const { pageAtomic, pagesLeft, budgetAtomic, outside } = quote
  if (isComplete && isCurrent) return html`<p class="note">Every page is in the ledger.</p>`
  if (pageAtomic === undefined) return html``
  const most = pagesLeft === null ? undefined : pageAtomic * BigInt(pagesLeft)
  const budget = least(budgetAtomic, most) ?? pageAtomic
  return html`<details class="ask">
    <summary>Fetch</summary>
    <form method="post" action="/lists/${name}/fetch">
      ${token}
      <p>
        ${
          most === undefined || pagesLeft === null
            ? html`Buys the pages that the ledger lacks, each for <strong>${usd(pageAtomic)}</strong> at most.
                Their number is known after page 1.`
            : html`Buys ${counted(pagesLeft, 'page')}: <strong>${usd(most)}</strong> at most, and never more
                than the budget.`
        }
      </p>
      <label
        >Budget in USD
        <input
          name="budget"
          inputmode="decimal"
          autocomplete="off"
          required
          value="${formatUsd(budget).replace(/(\.\d\d)0+$/, '$1')}"
      /></label>
      ${
        outside > 0
          ? html`<label class="check"
              ><input type="checkbox" name="reachable" value="yes" required /> ${counted(outside, 'row')}
              cannot be reached: fetch the others</label
            >`
          : ''
      }
      <button class="primary" type="submit">Yes, fetch within the budget</button>
    </form>
  </details>`
}

function planForm({ name, pages, faults }: ListView, token: Markup): Markup {
  if (pages === 0 || faults.length > 0) return html``
  return html`<form method="post" action="/lists/${name}/plan">
    ${token}<button type="submit">Plan the records</button>
    <p class="note">Costs nothing and writes nothing. It asks the CRM for what it has now.</p>
  </form>`
}

function unknownPrice(name: string): Markup {
  return html`<p class="note">
    Nobody knows the price of a page. Name the most that it may cost in <code>payment.maxPricesUsd</code>, or
    buy page 1 with <code>paydirt lists preview ${name} --max-usd AMOUNT</code>.
  </p>`
}

function least(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a < b ? a : b
}
