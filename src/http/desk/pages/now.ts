import { html } from 'hono/html'
import { crmNames, variablesNeededBy } from '../../../connectors/definitions.ts'
import { mayAct } from '../access/access.ts'
import { attentionItems } from '../model/attention.ts'
import { budgetBars, type DeskCaps } from '../model/budgets.ts'
import { daysLeft, type NowModel } from '../model/now.ts'
import type { DeskPorts, PaceNow } from '../model/ports.ts'
import { inlineText } from '../view/foreign-text.ts'
import { connectorName, count, counted, percent, perSecond, usd } from '../view/format.ts'
import { icon } from '../view/icons.ts'
import type { Page, Shell } from '../view/layout.ts'
import { card, empty, type Markup } from '../view/parts.ts'
import { budgetList, queueTable, requestRate } from './now-capacity.ts'
import { activeRuns, parkedGroups } from './now-runs.ts'

export interface NowSettings {
  caps: DeskCaps
  syncable: ReturnType<DeskPorts['syncable']>
}

export function nowPage(model: NowModel, settings: NowSettings, shell: Shell): Page {
  const regions = nowRegions(model, settings)
  const mayStart = shell.visitor.role !== undefined && mayAct(shell.visitor.role, 'operator')
  return {
    title: 'Now',
    lead: html`<span id="now-lead">${regions['now-lead']}</span>`,
    current: '/',
    live: 'now',
    body: html` <div id="now-attention" aria-live="polite">${regions['now-attention']}</div>
      <div id="now-tiles" class="tiles">${regions['now-tiles']}</div>
      <div class="columns">
        <div class="column wide">
          ${card('running', 'Open runs', html`<div id="now-runs">${regions['now-runs']}</div>`)}
          ${card('parked', 'Parked', html`<div id="now-parked">${regions['now-parked']}</div>`, { note: 'Work on hold, and when it resumes' })}
          ${card('queues', 'Queues', html`<div id="now-queues">${regions['now-queues']}</div>`)}
        </div>
        <div class="column">
          ${mayStart ? card('start', 'Start a sync', startLinks(settings), { note: 'Shows the plan first' }) : ''}
          ${card('budgets', 'Budgets', html`<div id="now-budgets">${regions['now-budgets']}</div>`, { note: 'Spent, in doubt, and reserved for requests on their way; days and months are in UTC' })}
          ${card('pace', 'Request rate', html`<div id="now-pace">${regions['now-pace']}</div>`, { note: 'The rate that the service allows, as measured' })}
        </div>
      </div>`,
  }
}

/** Returns the parts of the page that update live, by the id of their element. */
export function nowRegions(model: NowModel, { caps, syncable }: NowSettings): Record<string, Markup> {
  const connectors = syncable.map(({ connector }) => connector)
  const isUnread = isLedgerUnread(model)
  const away = empty('The database does not respond.')
  return {
    'now-lead': isUnread ? html`The database does not respond.` : lead(model),
    'now-attention': attentionList(model, caps),
    'now-tiles': tiles(model, caps),
    'now-runs': isUnread ? away : activeRuns(model),
    'now-parked': isUnread ? away : parkedGroups(model),
    'now-budgets': isUnread ? away : budgetList(budgetBars(model, caps, connectors)),
    'now-pace': requestRate(model),
    'now-queues': queueTable(model),
  }
}

/** The database is away, and was when this process first asked for the page. */
function isLedgerUnread({ ledgerAway }: NowModel): boolean {
  return ledgerAway !== undefined && ledgerAway.readAt === undefined
}

function lead({ runs }: NowModel): Markup {
  const active = runs.filter(({ state }) => state === 'scanning' || state === 'working')
  if (active.length === 0) return html`No active runs.`
  const open = active.reduce(
    (sum, run) => sum + run.counts.looking_up + run.counts.ready + run.counts.queued,
    0,
  )
  return html`${counted(active.length, 'active run')}, ${counted(open, 'record')} left.`
}

function attentionList(model: NowModel, caps: DeskCaps): Markup {
  const items = attentionItems(model, caps)
  if (items.length === 0)
    return html`<p class="all-clear">${icon('ok')}<span>All clear. Nothing needs action.</span></p>`
  return html`<ul class="attention">
    ${items.map(
      ({ tone, text, href }) =>
        html`<li class="${tone}">${icon('failures')}<a href="${href}">${inlineText(text, 200)}</a></li>`,
    )}
  </ul>`
}

function tiles(model: NowModel, caps: DeskCaps): Markup {
  const { money, wallet, pace: now, queues, open } = model
  const today = money.settledTodayAtomic
  const balance = wallet?.balanceAtomic
  const left = balance === undefined ? undefined : daysLeft(balance, money, model.at)
  const isUnread = isLedgerUnread(model)
  const activeJobs = queues.reduce((sum, queue) => sum + queue.active, 0)
  return html` ${tile('Spent today', isUnread ? 'unknown' : usd(today), caps.dayAtomic === undefined ? 'no daily cap' : `of ${usd(caps.dayAtomic)} a day`)}
  ${tile('Wallet', wallet === undefined ? 'none' : balance === undefined ? 'unknown' : usd(balance), wallet === undefined ? 'lookups are paid with an API key' : isUnread ? 'the database does not respond' : left === undefined ? (money.settledLastWeekAtomic > 0n ? 'too early to say how long it lasts' : 'nothing spent this week') : `${left >= 365 ? 'more than a year' : `about ${left < 10 ? left.toFixed(1) : Math.round(left)} days`} at this week’s rate`)}
  ${tile('Request rate', now ? `${perSecond(now.servedPerSecond)}/s` : 'unknown', now ? `${allowedText(now)} · ${percent(now.limitedShare)} rate-limited` : 'Redis does not respond')}
  ${tile('Pending lookups', isUnread ? 'unknown' : count(open.hot + open.background), isUnread ? 'the database does not respond' : `${count(activeJobs)} active jobs · ${count(open.hot)} on demand${open.retrying > 0 ? ` · ${count(open.retrying)} retrying` : ''}`)}`
}

function allowedText({ perSecond: rate, atOnce }: PaceNow): string {
  return atOnce === undefined ? `of ${perSecond(rate)}/s allowed` : `${count(atOnce)} at a time allowed`
}

function tile(name: string, value: string, note: string): Markup {
  return html`<div class="tile">
    <h2>${name}</h2>
    <p class="value">${value}</p>
    <p class="note">${note}</p>
  </div>`
}

function startLinks({ syncable }: NowSettings): Markup {
  if (syncable.length === 0)
    return empty(`No CRM is set up. Set ${crmNames.map(variablesNeededBy).join(', or ')}, then restart.`)
  return html`${syncable.map(
    ({ connector, entities }) =>
      html`<div class="start">
        <p>${connectorName(connector)}</p>
        <div class="start-buttons">
          ${entities.map(
            (entity) =>
              html`<a
                class="button"
                href="/sync?${new URLSearchParams({ connector, entity }).toString()}"
                aria-label="Plan a sync of ${connectorName(connector)} ${entity}"
                >${icon('go')}${entity}</a
              >`,
          )}
        </div>
      </div>`,
  )}`
}
