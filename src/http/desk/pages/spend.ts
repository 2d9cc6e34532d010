import { html } from 'hono/html'
import { formatUsd } from '../../../domain/money.ts'
import type { StepPrice } from '../../../domain/planning/prices.ts'
import type { SavedReconciliation } from '../../../store/chain/reconciliations.ts'
import type { SpendDay, SpendTotals } from '../../../store/views/desk-spend.ts'
import type { RefusalRow, SpendRow } from '../../../store/views/spend.ts'
import { mayAct } from '../access/access.ts'
import type { BudgetBar } from '../model/budgets.ts'
import { blockText } from '../view/foreign-text.ts'
import { ago, connectorName, count, counted, money, stepName, usd, words } from '../view/format.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { badge, card, empty, meter, table, instant, type Markup } from '../view/parts.ts'

export interface SpendModel {
  days: SpendDay[]
  totals: SpendTotals[]
  byConnector: SpendRow[]
  byField: SpendRow[]
  refusals: RefusalRow[]
  budgets: BudgetBar[]
  prices: readonly StepPrice[]
  reconciliation: SavedReconciliation | undefined
  canReconcile: boolean
}

export function spendPage(model: SpendModel, shell: Shell): Page {
  const { days, byConnector, byField, refusals, budgets } = model
  const [first, last] = [days[0]?.day ?? '', days.at(-1)?.day ?? '']
  const sum = days.reduce((total, { settledAtomic }) => total + settledAtomic, 0n)
  return {
    title: 'Spend',
    lead: 'What was paid and for what, and whether the ledger matches the chain.',
    current: '/spend',
    styles: ['uplot.css'],
    scripts: ['uplot.js', 'chart.js'],
    body: html` <div class="tiles">${totalTiles(model.totals)}</div>
      ${card(
        'days',
        'By day',
        html` <div
            id="spend-chart"
            class="chart"
            role="img"
            aria-label="Spending by day from ${first} to ${last}, ${usd(sum)} in total; the table below lists each day"
          ></div>
          <details class="more-table">
            <summary>Show as a table</summary>
            <div class="table-wrap" id="spend-days">${dayTable(days)}</div>
          </details>`,
        { note: `${usd(sum)} in the last ${days.length} days, UTC` },
      )}
      <div class="columns even">
        ${card(
          'connectors',
          'By connector',
          rows('Spending by connector', byConnector, (name) => connectorName(name)),
        )}
        ${card('caps', 'Budgets', capList(budgets))}
      </div>
      ${card('prices', 'Prices by step', priceTable(model.prices))}
      ${card('fields', 'By field', rows('Spending by field', byField, words), { note: 'A charge is split equally among the fields that it filled' })}
      <div class="columns even">
        ${card('reconciliation', 'Reconciliation', reconciliation(model, shell))}
        ${card(
          'refused',
          'Refused by the spending policy',
          refusals.length > 0
            ? table<RefusalRow>(
                'Refused payment challenges; nothing was signed for them',
                [
                  { name: 'Rule', isHead: true, cell: ({ rule }) => words(rule) },
                  { name: 'Message', cell: ({ message }) => blockText(message) },
                  { name: 'Count', isNumber: true, cell: (row) => count(row.count) },
                  { name: 'Last', cell: ({ lastAt }) => instant(lastAt, shell.now) },
                ],
                refusals,
              )
            : empty('No challenge was refused.'),
        )}
      </div>`,
  }
}

function totalTiles(totals: SpendTotals[]): Markup {
  const all = totals.length > 0 ? totals : [noTotals]
  return html`${all.map(
    (total) =>
      html` <div class="tile">
          <h2>Settled</h2>
          <p class="value">${money(total.settledAtomic, total.currency)}</p>
          <p class="note">${counted(total.settled, 'charge')} in total</p>
        </div>
        <div class="tile">
          <h2>In doubt</h2>
          <p class="value">${money(total.inDoubtAtomic, total.currency)}</p>
          <p class="note">
            ${total.inDoubt === 0 ? 'no open charges' : `${counted(total.inDoubt, 'charge')} with unknown outcome`}
          </p>
        </div>
        <div class="tile">
          <h2>Lost</h2>
          <p class="value">${money(total.lostAtomic, total.currency)}</p>
          <p class="note">${counted(total.lost, 'charge')} paid without an answer</p>
        </div>`,
  )}`
}

const noTotals: SpendTotals = {
  currency: 'USD',
  settled: 0,
  settledAtomic: 0n,
  inDoubt: 0,
  inDoubtAtomic: 0n,
  lost: 0,
  lostAtomic: 0n,
}

/** The chart is drawn from this table. */
function dayTable(days: SpendDay[]): Markup {
  return html`<table class="stacks">
    <caption>
      Spending by day in UTC
    </caption>
    <thead>
      <tr>
        <th scope="col">Day</th>
        <th scope="col" class="num">Charges</th>
        <th scope="col" class="num">Settled</th>
        <th scope="col" class="num">In doubt</th>
        <th scope="col" class="num">Lost</th>
      </tr>
    </thead>
    <tbody>
      ${days.map(
        (row) =>
          html`<tr
            data-day="${row.day}"
            data-settled="${formatUsd(row.settledAtomic)}"
            data-lost="${formatUsd(row.lostAtomic)}"
          >
            <th scope="row">${row.day}</th>
            <td class="num" data-label="Charges">${count(row.charges)}</td>
            <td class="num" data-label="Settled">${usd(row.settledAtomic)}</td>
            <td class="num" data-label="In doubt">${usd(row.inDoubtAtomic)}</td>
            <td class="num" data-label="Lost">${usd(row.lostAtomic)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`
}

function rows(caption: string, spent: SpendRow[], name: (name: string) => string): Markup {
  if (spent.length === 0) return empty('Nothing spent yet.')
  // Fractions of a cent align only when every amount has the same number of decimal places.
  const isFine = spent.some(({ settledAtomic }) => settledAtomic % 10_000n !== 0n)
  const amount = (value: bigint, currency: string) =>
    isFine && currency === 'USD' ? `$${formatUsd(value)}` : money(value, currency)
  /** Leaves out a column that is zero in every row. */
  const optional = (title: string, of: (row: SpendRow) => bigint) =>
    spent.some((row) => of(row) !== 0n)
      ? [{ name: title, isNumber: true, cell: (row: SpendRow) => amount(of(row), row.currency) }]
      : []
  return table<SpendRow>(
    caption,
    [
      { name: 'Name', isHead: true, cell: (row) => name(row.name) },
      { name: 'Charges', isNumber: true, cell: (row) => count(row.charges) },
      { name: 'Settled', isNumber: true, cell: (row) => amount(row.settledAtomic, row.currency) },
      ...optional('In doubt', (row) => row.inDoubtAtomic),
      ...optional('Lost', (row) => row.lostAtomic),
    ],
    [...spent].sort((a, b) => Number(b.settledAtomic - a.settledAtomic)),
  )
}

function capList(bars: BudgetBar[]): Markup {
  return html`<ul class="bars">
    ${bars.map(({ name, usedAtomic, capAtomic }) => {
      const text =
        capAtomic === undefined ? `${usd(usedAtomic)}, no cap` : `${usd(usedAtomic)} of ${usd(capAtomic)}`
      const share = capAtomic ? Number(usedAtomic) / Number(capAtomic) : 0
      return html`<li>
        <p class="bar-head"><span>${name}</span><span>${text}</span></p>
        ${capAtomic === undefined ? '' : meter(share, `${name}: ${text}`)}
      </li>`
    })}
  </ul>`
}

function priceTable(prices: readonly StepPrice[]): Markup {
  return table<StepPrice>(
    'The price of one lookup, and the most that may be paid for it',
    [
      { name: 'Step', isHead: true, cell: ({ step }) => stepName(step) },
      {
        name: 'Price',
        isNumber: true,
        cell: ({ priceAtomic }) => (priceAtomic === undefined ? 'not published' : usd(priceAtomic)),
      },
      { name: 'Maximum price', isNumber: true, cell: ({ capAtomic }) => usd(capAtomic) },
      {
        name: 'State',
        cell: ({ isStopped }) =>
          isStopped ? badge('stopped', 'danger', 'not bought') : badge('allowed', 'ok', 'allowed'),
      },
    ],
    [...prices],
  )
}

function reconciliation({ reconciliation: last, canReconcile }: SpendModel, { visitor, now }: Shell): Markup {
  const mayReconcile = canReconcile && visitor.role !== undefined && mayAct(visitor.role, 'operator')
  return html`${
    last
      ? html`<p>
            ${last.differences === 0 ? badge('agree', 'ok', 'no differences') : badge('differ', 'danger', 'differences found')}
            <span class="note">compared ${ago(last.at, now)}</span>
          </p>
          <dl class="facts">
            <div>
              <dt>Chain minus ledger</dt>
              <dd>${usd(last.differenceAtomic)}</dd>
            </div>
            <div>
              <dt>Differing transfers or charges</dt>
              <dd>${count(last.differences)}</dd>
            </div>
            <div>
              <dt>In doubt at that time</dt>
              <dd>${usd(last.inDoubtAtomic)}</dd>
            </div>
          </dl>`
      : empty('The ledger has not been reconciled with the chain yet.')
  }${mayReconcile ? html`<form class="below" method="post" action="/spend/reconcile">${csrf(visitor)}<button type="submit">Reconcile now</button></form>` : ''}`
}
