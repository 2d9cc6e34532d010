import { html } from 'hono/html'
import { parseUsd } from '../../../../domain/money.ts'
import { leftOutLines } from '../../../../domain/planning/wanted-fields.ts'
import type { FieldValue } from '../../../../domain/record.ts'
import type { PlanSampleRow } from '../../../../store/plans/plan-sample.ts'
import { mayAct } from '../../access/access.ts'
import type { PlanFigures, PlannedLimit, PlannedStep, SyncPlan } from '../../model/sync-plan.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { ago, connectorName, count, counted, stepName, usd, words } from '../../view/format.ts'
import { csrf, type Page, type Shell } from '../../view/layout.ts'
import { badge, card, empty, facts, meter, table, type Markup } from '../../view/parts.ts'

/** Shows the cost and changes of a sync, and the button that starts exactly that. */
export function planPage(plan: SyncPlan, shell: Shell): Page {
  const { connector, entity, recipe, limit, figures, problem } = plan
  return {
    title: `Plan: ${connectorName(connector)} ${entity}`,
    lead: html`Recipe ${inlineText(recipe)},
    ${limit === undefined ? 'all new or changed records' : `at most ${counted(limit, 'record')}`}, made
    ${ago(plan.madeAt, shell.now)}. Nothing was paid for it.`,
    current: '/',
    body:
      problem !== undefined
        ? html`<div class="problem" role="alert">The plan could not be made: ${blockText(problem, 600)}</div>
            <p>${again(plan, 'Change it and try again')}</p>`
        : figures
          ? [confirmation(plan, figures, shell), ...figureCards(plan, figures)]
          : progress(plan, shell),
  }
}

function progress(plan: SyncPlan, { now }: Shell): Markup {
  const { records, limit } = plan
  const text =
    limit === undefined
      ? `${counted(records, 'record')} read`
      : `${count(records)} of at most ${counted(limit, 'record')} read`
  return card(
    'progress',
    'Planning',
    html`<p class="bar-head" role="status"><span>${text}</span><span>begun ${ago(plan.madeAt, now)}</span></p>
      ${limit === undefined ? '' : meter(records / limit, text, false)}
      <p class="note below">
        This page loads itself again until the plan is ready; you can leave it and come back to its address.
        If the number stops growing, the process that made the plan has ended: ${again(plan, 'plan again')}.
      </p>`,
  )
}

function again({ connector, entity, recipe, limit }: SyncPlan, text: string): Markup {
  const query = new URLSearchParams({
    connector,
    entity,
    recipe,
    limit: limit === undefined ? '' : String(limit),
  })
  return html`<a href="/sync?${query.toString()}">${text}</a>`
}

function confirmation(plan: SyncPlan, figures: PlanFigures, { visitor, now }: Shell): Markup {
  const { cost, lookups, begins, refusals } = figures
  const most = dollars(cost.high)
  const isOld = now.getTime() > plan.holdsUntil.getTime()
  const mayStart = visitor.role !== undefined && mayAct(visitor.role, 'operator')
  const costs =
    cost.low === cost.high
      ? html`<strong>${most}</strong>`
      : html`<strong>${dollars(cost.low)} to ${most}</strong>, about ${dollars(cost.expected)} expected`
  return card(
    'confirm',
    plan.runId === undefined ? 'Start this sync?' : 'This sync was started',
    html`${
        begins
          ? html`<p class="plan-cost">
              It costs ${costs}. ${counted(lookups.toBuy, 'first lookup')} would be bought for
              ${counted(figures.outcomes?.lookUp ?? figures.records, 'record')}.
            </p>`
          : html`<p class="plan-cost">
              It would not begin, so it costs nothing. With what is missing it would cost
              <strong>${dollars(figures.uncapped.low)} to ${dollars(figures.uncapped.high)}</strong> without
              the budgets.
            </p>`
      }
      ${
        begins
          ? ''
          : html`<div class="problem below">
              It would not begin:
              <ul class="plain-list">
                ${refusals.map(({ message }) => html`<li>${blockText(message, 400)}</li>`)}
              </ul>
            </div>`
      }
      <div class="plan-actions below">${action()}</div>`,
  )

  function action(): Markup {
    if (plan.runId !== undefined) return html`<a href="/runs/${plan.runId}">Open its run</a>`
    if (!plan.isForDesk)
      return html`<p>Carry it out on the command line: <code>paydirt apply ${plan.id}</code></p>`
    if (isOld) return html`<p>Records and answers may have changed since. ${again(plan, 'Plan again')}</p>`
    if (!mayStart) return html`<p class="note">An operator can start it.</p>`
    if (figures.records === 0)
      return html`<p>There is nothing to sync. ${again(plan, 'Choose something else')}</p>`
    return html`${
      begins
        ? html`<form method="post" action="/sync/plans/${plan.id}/start">
            ${csrf(visitor)}<button class="primary" type="submit">
              ${most === '$0.00' ? 'Yes, start it at no cost' : `Yes, start it and spend up to ${most}`}
            </button>
          </form>`
        : ''
    }${again(plan, begins ? 'Change it' : 'Plan again')}`
  }
}

function figureCards(plan: SyncPlan, figures: PlanFigures): Markup[] {
  const { steps, limits, leftOut } = figures
  return [
    html`<div class="columns even">
      ${card('records', 'Records', recordList(figures))}
      ${card('limits', 'Budgets', limitList(figures, limits), { note: 'What stops it, and what is left' })}
    </div>`,
    card(
      'steps',
      'Lookups',
      html`${steps.length > 0 ? stepTable(steps) : empty('Nothing has to be bought.')}${leftOutLines(
        leftOut ?? [],
        plan.connector,
      ).map(
        (line) =>
          html`<p class="note below">
            ${inlineText(`${line.charAt(0).toUpperCase()}${line.slice(1)}`, 600)}
          </p>`,
      )}`,
      { note: 'At least, expected by past answers, and at most' },
    ),
    card('sample', 'Changes', sampleTable(plan.sample), {
      note: 'Up to ten records, with what the ledger already knows',
    }),
  ]
}

/** Each record read stands in one row, and those without a lookup or a write have their reasons below. */
function recordList({ records, lookups, tasks, preview, outcomes, reasons = [] }: PlanFigures): Markup {
  const rows: [string, string][] = outcomes
    ? [
        ['Read', count(records)],
        ['To look up', count(outcomes.lookUp)],
        ['Filled from known answers', count(outcomes.write)],
        ['Nothing to do', count(outcomes.unchanged)],
        ['Skipped, at no cost', count(outcomes.skipped)],
        ['Rejected, at no cost', count(outcomes.rejected)],
      ]
    : [
        ['Read', count(records)],
        ['Skipped, at no cost', count(tasks.skipped)],
        ['Rejected, at no cost', count(tasks.rejected)],
        ['Filled from known answers', count(preview?.records ?? 0)],
      ]
  return html`${facts(rows)}
    ${
      reasons.length === 0
        ? ''
        : html`<ul class="groups below">
            ${reasons.map(
              ({ status, reason, count: number }) =>
                html`<li>
                  <span class="group-count">${count(number)}</span
                  ><span class="group-text">${words(status)}: ${inlineText(reason, 200)}</span>
                </li>`,
            )}
          </ul>`
    }
    <p class="note below">
      ${counted(lookups.unique, 'different first lookup')}, ${counted(lookups.duplicates, 'duplicate')} of
      them; ${count(lookups.cached)} known already, ${count(lookups.toBuy)} to buy.
    </p>`
}

const limitNames: Record<PlannedLimit['name'], string> = {
  run: 'This run',
  day: 'Today',
  month: 'This month',
  connector: 'This connector today',
  wallet: 'Wallet',
  stopped: 'Spending',
}

function limitList({ cost, uncapped, begins }: PlanFigures, limits: readonly PlannedLimit[]): Markup {
  const isStopped = limits.some(({ stops }) => stops)
  return html`<dl class="facts">
      ${limits.map(
        (limit) =>
          html`<div>
            <dt>${limitNames[limit.name]}</dt>
            <dd>
              ${limitText(limit)}
              ${limit.stops ? badge('stops', 'warn', begins ? 'stops it' : 'would stop it') : ''}
            </dd>
          </div>`,
      )}
    </dl>
    ${
      begins && (isStopped || uncapped.high !== cost.high)
        ? html`<p class="note below">
            Without what stops it: ${dollars(uncapped.low)} to ${dollars(uncapped.high)}. The rest is parked
            and goes on later.
          </p>`
        : ''
    }`
}

function limitText({ name, cap, used, left }: PlannedLimit): string {
  if (name === 'stopped') return 'stopped by the kill switch'
  if (left === null) return name === 'wallet' ? 'could not be read' : `${dollars(used)} used, no cap`
  return cap === null || name === 'wallet' ? dollars(left) : `${dollars(left)} left of ${dollars(cap)}`
}

function stepTable(steps: PlannedStep[]): Markup {
  return table<PlannedStep>(
    'Lookups and their cost by step',
    [
      {
        name: 'Step',
        isHead: true,
        cell: ({ step, stopped }) =>
          html`${stepName(step)}${stopped ? html` ${badge('stopped', 'danger', 'not bought')}` : ''}`,
      },
      {
        name: 'Price',
        isNumber: true,
        cell: ({ price, cap }) => (price === null ? `up to ${dollars(cap)}` : dollars(price)),
      },
      { name: 'At least', isNumber: true, cell: ({ lookups }) => count(lookups.low) },
      { name: 'Expected', isNumber: true, cell: ({ lookups }) => String(lookups.expected) },
      { name: 'At most', isNumber: true, cell: ({ lookups }) => count(lookups.high) },
      {
        name: 'Cost',
        isNumber: true,
        cell: ({ cost }) =>
          cost.low === cost.high ? dollars(cost.high) : `${dollars(cost.low)} to ${dollars(cost.high)}`,
      },
    ],
    steps,
  )
}

function sampleTable(rows: PlanSampleRow[]): Markup {
  if (rows.length === 0) return empty('Nothing would change, and nothing would be bought.')
  return table<PlanSampleRow>(
    'Records of the plan with their changes',
    [
      {
        name: 'Record',
        isHead: true,
        cell: ({ recordId }) => html`<code>${inlineText(recordId, 60)}</code>`,
      },
      {
        name: 'Before → after',
        cell: ({ changes, lookupKey }) =>
          changes
            ? html`<ul class="plain-list">
                ${Object.entries(changes).map(
                  ([field, { from, to }]) =>
                    html`<li><strong>${words(field)}</strong>: ${shown(from)} → ${shown(to)}</li>`,
                )}
              </ul>`
            : html`<span class="none">known after the lookup</span> ${lookupName(lookupKey ?? '')}`,
      },
    ],
    rows,
  )
}

function shown(value: FieldValue | null): Markup {
  return value === null ? html`<span class="none">blank</span>` : blockText(String(value), 120)
}

/** The operation of a key, and what it asks for. */
function lookupName(key: string): Markup {
  const at = key.indexOf('|')
  return html`<small
    >${words(key.slice(0, at)).replace('.', ' ')} ${inlineText(key.slice(at + 1), 120)}</small
  >`
}

function dollars(text: string): string {
  return usd(parseUsd(text))
}
