import { html } from 'hono/html'
import { crmNames, crmOf } from '../../../connectors/definitions.ts'
import type { LiveRun } from '../../../store/views/desk-now.ts'
import { mayAct } from '../access/access.ts'
import { attentionItems } from '../model/attention.ts'
import { budgetBars, type BudgetBar, type DeskCaps } from '../model/budgets.ts'
import { daysLeft, progressOf, type NowModel } from '../model/now.ts'
import type { DeskPorts } from '../model/ports.ts'
import { ago, connectorName, count, counted, duration, percent, perSecond, usd } from '../view/format.ts'
import { icon } from '../view/icons.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { badge, card, empty, resumesWhen, meter, stackedBar, table, type Markup } from '../view/parts.ts'

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
          ${card('running', 'Active runs', html`<div id="now-runs">${regions['now-runs']}</div>`)}
          ${card('parked', 'Parked', html`<div id="now-parked">${regions['now-parked']}</div>`, { note: 'Work on hold, and when it resumes' })}
          ${card('queues', 'Queues', html`<div id="now-queues">${regions['now-queues']}</div>`)}
        </div>
        <div class="column">
          ${mayStart ? card('start', 'Start a sync', startForms(settings, shell)) : ''}
          ${card('budgets', 'Budgets', html`<div id="now-budgets">${regions['now-budgets']}</div>`, { note: 'Days and months are in UTC' })}
          ${card('pace', 'Request rate', html`<div id="now-pace">${regions['now-pace']}</div>`, { note: 'The rate that the service allows, as measured' })}
        </div>
      </div>`,
  }
}

/** Returns the parts of the page that update live, by the id of their element. */
export function nowRegions(model: NowModel, { caps, syncable }: NowSettings): Record<string, Markup> {
  const connectors = syncable.map(({ connector }) => connector)
  return {
    'now-lead': lead(model),
    'now-attention': attentionList(model, caps),
    'now-tiles': tiles(model, caps),
    'now-runs': running(model),
    'now-parked': parked(model),
    'now-budgets': budgets(budgetBars(model, caps, connectors)),
    'now-pace': pace(model),
    'now-queues': queueTable(model),
  }
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
    return html`<p class="all-clear">${icon('ok')}<span>All clear. Nothing needs attention.</span></p>`
  return html`<ul class="attention">
    ${items.map(
      ({ tone, text, href }) =>
        html`<li class="${tone}">${icon('failures')}<a href="${href}">${text}</a></li>`,
    )}
  </ul>`
}

function tiles(model: NowModel, caps: DeskCaps): Markup {
  const { money, wallet, pace: now, queues, open } = model
  const today = money.settledTodayAtomic
  const balance = wallet?.balanceAtomic
  const left = balance === undefined ? undefined : daysLeft(balance, money, model.at)
  const activeJobs = queues.reduce((sum, queue) => sum + queue.active, 0)
  return html` ${tile('Spent today', usd(today), caps.dayAtomic === undefined ? 'no daily cap' : `of ${usd(caps.dayAtomic)} a day`)}
  ${tile('Wallet', wallet === undefined ? 'none' : balance === undefined ? 'unknown' : usd(balance), wallet === undefined ? 'lookups are paid with an API key' : left === undefined ? 'nothing spent this week' : `${left >= 365 ? 'more than a year' : `about ${left < 10 ? left.toFixed(1) : Math.round(left)} days`} at this week’s rate`)}
  ${tile('Request rate', now ? `${perSecond(now.servedPerSecond)}/s` : 'unknown', now ? `of ${perSecond(now.perSecond)}/s allowed · ${percent(now.limitedShare)} rate-limited` : 'Redis does not respond')}
  ${tile('Pending lookups', count(open.hot + open.background), `${count(activeJobs)} active jobs · ${count(open.hot)} on demand`)}`
}

function tile(name: string, value: string, note: string): Markup {
  return html`<div class="tile">
    <h2>${name}</h2>
    <p class="value">${value}</p>
    <p class="note">${note}</p>
  </div>`
}

function running({ runs, ended, at }: NowModel): Markup {
  return html`${
    runs.length > 0
      ? html`<ul class="runs">
          ${runs.map((run) => runItem(run, at))}
        </ul>`
      : empty('No active runs. Start a sync, or wait for the next scheduled one.')
  }
  ${
    ended.length > 0
      ? html`<h3>Recent runs</h3>
          <ul class="ended">
            ${ended.map(
              (run) =>
                html`<li>
                  <a href="/runs/${run.id}">${connectorName(run.connector)} ${run.entity}</a>
                  ${badge(run.state)}
                  <span>${counted(run.records, 'record')}, ${ago(run.finishedAt ?? at, at)}</span>
                </li>`,
            )}
          </ul>`
      : ''
  }`
}

export const barLegend = [
  ['written', 'written'],
  ['unchanged', 'unchanged'],
  ['skipped', 'skipped'],
  ['rejected', 'rejected'],
  ['parked', 'parked'],
] as const

function runItem(run: LiveRun, now: Date): Markup {
  const { ended, open, perSecond: rate, leftMs } = progressOf(run, now)
  const total = Math.max(run.records, ended + open + run.counts.parked)
  const parts = barLegend.map(([name, className]) => ({ name, className, value: run.counts[name] }))
  const shown = parts.filter(({ value }) => value > 0)
  const timeLeft =
    leftMs === undefined ? (run.scanned ? '' : 'still scanning the source') : `about ${duration(leftMs)} left`
  return html`<li class="run" data-run="${run.id}">
    <div class="run-head">
      <a href="/runs/${run.id}"><strong>${connectorName(run.connector)}</strong> ${run.entity}</a>
      ${badge(run.state)} <span class="run-cost">${usd(run.settledAtomic)}</span>
    </div>
    ${stackedBar(parts, total, `${count(ended)} of ${count(total)} records ended`)}
    <p class="run-foot">
      <span class="run-count"><strong>${count(ended)}</strong> of ${counted(total, 'record')}</span
      >${rate > 0 ? html`<span>${perSecond(rate)}/s</span>` : ''}${timeLeft ? html`<span>${timeLeft}</span>` : ''}<span
        >started ${ago(run.startedAt, now)}</span
      >
    </p>
    ${
      shown.length > 0
        ? html`<ul class="legend">
            ${shown.map(({ name, className, value }) => html`<li><span class="dot ${className}"></span>${count(value)} ${name}</li>`)}
          </ul>`
        : ''
    }
  </li>`
}

function parked({ parked: groups, at }: NowModel): Markup {
  if (groups.length === 0) return empty('Nothing is parked.')
  return html`<ul class="groups">
    ${groups.map(
      ({ reason, records, resumesAt }) =>
        html`<li>
          <span class="group-count">${count(records)}</span
          ><span class="group-text">${reason}<small>${resumesWhen(resumesAt, at)}</small></span>
        </li>`,
    )}
  </ul>`
}

function budgets(bars: BudgetBar[]): Markup {
  return html`<ul class="bars">
    ${bars.map(({ name, usedAtomic, capAtomic }) => {
      const share = capAtomic === undefined || capAtomic === 0n ? 0 : Number(usedAtomic) / Number(capAtomic)
      const text =
        capAtomic === undefined ? `${usd(usedAtomic)}, no cap` : `${usd(usedAtomic)} of ${usd(capAtomic)}`
      return html`<li>
        <p class="bar-head"><span>${name}</span><span>${text}</span></p>
        ${capAtomic === undefined ? '' : meter(share, `${name}: ${text}`)}
      </li>`
    })}
  </ul>`
}

const phases: Record<string, string> = {
  learn: 'learning the limit',
  hold: 'at the limit',
  probe: 'probing for a higher limit',
  blocked: 'blocked by the service',
}

function pace({ pace: now }: NowModel): Markup {
  if (!now) return empty('Redis does not respond.')
  const share = now.perSecond > 0 ? now.servedPerSecond / now.perSecond : 0
  return html`<p class="bar-head">
      <span>${phases[now.phase] ?? now.phase}</span
      ><span>${perSecond(now.servedPerSecond)} of ${perSecond(now.perSecond)} requests/s</span>
    </p>
    ${meter(share, `${perSecond(now.servedPerSecond)} of ${perSecond(now.perSecond)} requests a second`, false)}
    <dl class="facts">
      <div>
        <dt>Rate-limited (429)</dt>
        <dd>${percent(now.limitedShare)} recently, ${count(now.totals.limited)} in total</dd>
      </div>
      <div>
        <dt>Served</dt>
        <dd>${count(now.totals.ok)} in total</dd>
      </div>
      ${now.windows.map(
        ({ lengthMs, limit, confirmed }) =>
          html`<div>
            <dt>Every ${duration(lengthMs)}</dt>
            <dd>${count(limit)} requests${confirmed ? '' : ', not confirmed'}</dd>
          </div>`,
      )}
      ${
        now.closedForMs > 0
          ? html`<div>
              <dt>Next request</dt>
              <dd>in ${duration(now.closedForMs)}</dd>
            </div>`
          : ''
      }
    </dl>`
}

const queueWords: Record<string, string> = {
  'lookup-hot': 'On-demand lookups',
  lookup: 'Background lookups',
  'write-back': 'CRM writes',
  schedule: 'Schedules',
}

function queueTable({ queues }: NowModel): Markup {
  if (queues.length === 0) return empty('Redis does not respond.')
  return table<NowModel['queues'][number]>(
    'Jobs in each queue',
    [
      { name: 'Queue', isHead: true, cell: ({ name }) => queueWords[name] ?? name },
      { name: 'Waiting', isNumber: true, cell: ({ waiting }) => count(waiting) },
      { name: 'Active', isNumber: true, cell: ({ active }) => count(active) },
      { name: 'Delayed', isNumber: true, cell: ({ delayed }) => count(delayed) },
    ],
    queues,
    { isNarrow: true },
  )
}

function startForms({ syncable }: NowSettings, { visitor }: Shell): Markup {
  if (syncable.length === 0)
    return empty(
      `No CRM is set up. Set ${crmNames.map((name) => crmOf(name).required).join(', or ')}, then restart.`,
    )
  return html`${syncable.map(
    ({ connector, entities }) =>
      html`<div class="start">
        <p>${connectorName(connector)}</p>
        <div class="start-buttons">
          ${entities.map(
            (entity) =>
              html`<form method="post" action="/sync">
                ${csrf(visitor)}<input type="hidden" name="connector" value="${connector}" /><button
                  type="submit"
                  name="entity"
                  value="${entity}"
                  aria-label="Start a sync of ${connectorName(connector)} ${entity}"
                >
                  ${icon('go')}${entity}
                </button>
              </form>`,
          )}
        </div>
      </div>`,
  )}`
}
