import { html } from 'hono/html'
import { formatUsd } from '../../../domain/money.ts'
import type { WeekCost } from '../../../store/views/desk-charts.ts'
import type { ChartsModel } from '../model/charts.ts'
import { asTable, axisNumber, chart } from '../view/chart.ts'
import { count, money, usd } from '../view/format.ts'
import { card, empty, table, type Markup } from '../view/parts.ts'

/** The cost of a filled field by week, for each currency in which something was paid. */
export function weekCards({ weeks, costs }: ChartsModel['weeks']): Markup {
  const currencies = [
    ...new Set(costs.filter(({ costAtomic }) => costAtomic > 0n).map(({ currency }) => currency)),
  ]
  if (currencies.length === 0)
    return card(
      'weeks',
      'Cost per filled field by week',
      empty(`No run of the last ${weeks.length} weeks has paid for anything.`),
    )
  return html`${currencies.map((currency) =>
    card(
      `weeks-${currency.toLowerCase()}`,
      currency === 'USD' ? 'Cost per filled field by week' : 'Cost per filled field by week, in credits',
      weekChart(
        weeks,
        costs.filter((cost) => cost.currency === currency),
      ),
      {
        className: 'chart-card',
        note: 'Settled and lost, divided by the fields that were filled or changed',
      },
    ),
  )}`
}

function weekChart(weeks: readonly string[], costs: readonly WeekCost[]): Markup {
  const byWeek = new Map(costs.map((cost) => [cost.week, cost]))
  const values = weeks.map((week) => perField(byWeek.get(week)))
  const currency = costs[0]?.currency ?? 'USD'
  const unit = (value: number) =>
    currency === 'USD' ? usd(BigInt(Math.round(value))) : `${axisNumber(value / 1_000_000)} credits`
  const last = values.findLast((value) => value !== undefined)
  return html`${chart({
    kind: 'bars',
    label: `Cost per filled field by week, ${last === undefined ? 'no field was filled' : `${unit(last)} in the latest week that filled one`}; the table below lists each week`,
    series: [{ name: 'cost per filled field', values }],
    format: unit,
    axis: [weeks[0] ?? '', weeks[Math.floor(weeks.length / 2)] ?? '', weeks.at(-1) ?? ''].map(dayAndMonth),
    caption: 'By the week in which the run began; weeks begin on Monday, in UTC',
  })}
  ${asTable(
    table(
      'Cost per filled field by week',
      [
        { name: 'Week from', isHead: true, cell: ({ week }) => week },
        { name: 'Paid', isNumber: true, cell: ({ costAtomic }) => money(costAtomic, currency) },
        { name: 'Fields', isNumber: true, cell: ({ fields }) => count(fields) },
        {
          name: 'Per field',
          isNumber: true,
          cell: (cost) => (cost.fields === 0 ? '–' : amountPerField(cost)),
        },
      ],
      costs,
    ),
  )}`
}

function perField(cost: WeekCost | undefined): number | undefined {
  return cost && cost.fields > 0 ? Number(cost.costAtomic) / cost.fields : undefined
}

/** Rounded up to the millionth, as the report does. */
function amountPerField({ costAtomic, fields, currency }: WeekCost): string {
  const [amount, parts] = [costAtomic, BigInt(fields)]
  const share = formatUsd((amount + parts - 1n) / parts)
  return currency === 'USD' ? `$${share}` : `${share} credits`
}

function dayAndMonth(day: string): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(day),
  )
}
