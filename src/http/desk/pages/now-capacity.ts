import { html } from 'hono/html'
import type { BudgetBar } from '../model/budgets.ts'
import type { NowModel } from '../model/now.ts'
import type { PaceNow } from '../model/ports.ts'
import { inlineText, shortened } from '../view/foreign-text.ts'
import { count, duration, percent, perSecond, usd } from '../view/format.ts'
import { empty, meter, table, type Markup } from '../view/parts.ts'

export function budgetList(bars: BudgetBar[]): Markup {
  return html`<ul class="bars">
    ${bars.map(({ name, usedAtomic, capAtomic }) => {
      const share = capAtomic === undefined || capAtomic === 0n ? 0 : Number(usedAtomic) / Number(capAtomic)
      const text =
        capAtomic === undefined ? `${usd(usedAtomic)}, no cap` : `${usd(usedAtomic)} of ${usd(capAtomic)}`
      return html`<li>
        <p class="bar-head"><span>${inlineText(name)}</span><span>${text}</span></p>
        ${capAtomic === undefined ? '' : meter(share, `${shortened(name, 80)}: ${text}`)}
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

export function requestRate({ pace: now }: NowModel): Markup {
  if (!now) return empty('Redis does not respond.')
  return html`${now.atOnce === undefined ? rateBar(now) : slotsBar(now, now.atOnce)}
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

function rateBar(now: PaceNow): Markup {
  const share = now.perSecond > 0 ? now.servedPerSecond / now.perSecond : 0
  const [served, allowed] = [perSecond(now.servedPerSecond), perSecond(now.perSecond)]
  return html`<p class="bar-head">
      <span>${phases[now.phase] ?? now.phase}</span><span>${served} of ${allowed} requests/s</span>
    </p>
    ${meter(share, `${served} of ${allowed} requests a second`, false)}`
}

/** The rate is free to rise then, so that a share of it says nothing. */
function slotsBar(now: PaceNow, atOnce: number): Markup {
  return html`<p class="bar-head">
    <span>${now.phase === 'blocked' ? `${phases['blocked']}, ` : ''}${count(atOnce)} at a time</span
    ><span>${perSecond(now.servedPerSecond)} requests/s</span>
  </p>`
}

const queueWords: Record<string, string> = {
  'lookup-hot': 'On-demand lookups',
  lookup: 'Background lookups',
  'write-back': 'CRM writes',
  schedule: 'Schedules',
}

export function queueTable({ queues }: NowModel): Markup {
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
