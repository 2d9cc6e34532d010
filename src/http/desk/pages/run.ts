import { html } from 'hono/html'
import type { LiveRun } from '../../../store/views/desk-now.ts'
import type { Funnel, RunHead, RunReason, RunRecord } from '../../../store/views/desk-runs.ts'
import { progressOf } from '../model/now.ts'
import { paidPer } from '../model/paid-per.ts'
import { blockText, inlineText } from '../view/foreign-text.ts'
import { runName, cost, count, counted, duration, perSecond, usd, words } from '../view/format.ts'
import type { Page, Shell } from '../view/layout.ts'
import { badge, card, empty, stackedBar, table, instant, undoneBadge, type Markup } from '../view/parts.ts'
import { pager } from '../view/pager.ts'
import { nameOrId, recordLink } from './find.ts'
import { barLegend } from './now-runs.ts'
import type { Undone } from '../../../store/writes/undone-fields.ts'
import { undoneAmount } from '../../../domain/values/undone-text.ts'
import { optionsLine } from '../view/code-words.ts'

export interface RunDetail {
  run: RunHead
  funnel: Funnel
  live: LiveRun
  reasons: RunReason[]
  records: RunRecord[]
  /** The start of the next page of records; undefined on the last page. */
  nextAfter: number | undefined
  /** The end of the page before this one; undefined on the first page. */
  previousBefore: number | undefined
  status: string | undefined
  undone: Undone | undefined
  /** The card of what can be done about it. */
  actions: Markup
}

const fieldsShown = 3

export function runPage(detail: RunDetail, { now }: Shell): Page {
  const { run, funnel, live, reasons, records, nextAfter, previousBefore, status, undone } = detail
  const regions = runRegions(live, now)
  return {
    title: runName(run),
    lead: html`Run <code>${run.id}</code>, by ${words(run.trigger)}, recipe ${inlineText(run.recipe)}, started
      ${instant(run.startedAt, now)}${
        run.finishedAt
          ? html`, ended ${instant(run.finishedAt, now)}
            (${duration(run.finishedAt.getTime() - run.startedAt.getTime())})`
          : ''
      }`,
    current: '/runs',
    live: `run:${run.id}`,
    body: html` ${undone ? undoneNote(undone, now) : ''}${detail.actions}
      ${card('progress', 'Progress', html`<div id="run-progress">${regions['run-progress']}</div>`)}
      <div class="columns even">
        ${card('funnel', 'Funnel', funnelList(funnel), { note: 'From records read to values changed' })}
        ${card('cost', 'Cost', costList(funnel), { note: 'From the ledger' })}
      </div>
      ${card(
        'why',
        'Not written, or not in full',
        reasons.length > 0
          ? html`${table<RunReason>(
              'Reasons, most frequent first',
              [
                { name: 'Reason', isHead: true, cell: ({ reason }) => blockText(reason) },
                { name: 'Status', cell: ({ status }) => badge(status) },
                { name: 'Records', isNumber: true, cell: (row) => count(row.records) },
                { name: 'Example', cell: ({ example }) => recordLink(run, example) },
              ],
              reasons,
            )}
            ${optionsLine(run.connector, reasons)}`
          : empty('No record was skipped, rejected or parked, and no field was left out.'),
      )}
      ${card(
        'records',
        'Records',
        html`${statusFilter(run.id, status)}${
          records.length > 0
            ? table<RunRecord>(
                'Records in the order read',
                [
                  {
                    name: 'Record',
                    isHead: true,
                    cell: (row) =>
                      html`<a href="/tasks/${String(row.task)}">${nameOrId(row)}</a
                        ><small>${recordLink(run, row.recordId)}</small>`,
                  },
                  { name: 'Status', cell: ({ status }) => badge(status) },
                  {
                    name: 'Result',
                    cell: (row) =>
                      row.fields.length > 0 ? fieldsText(row.fields) : blockText(row.reason ?? '–'),
                  },
                  { name: 'When', cell: ({ updatedAt }) => instant(updatedAt, now) },
                ],
                records,
              )
            : empty('No matching records.')
        }${pager('Pages of records', {
          previous:
            previousBefore === undefined
              ? undefined
              : { href: pageOf(run.id, `before=${previousBefore}`, status), text: 'Previous page' },
          next:
            nextAfter === undefined
              ? undefined
              : { href: pageOf(run.id, `after=${nextAfter}`, status), text: 'Next page' },
        })}`,
      )}`,
  }
}

/** Stands above everything else: the figures below are those of the run as it ended. */
function undoneNote(undone: Undone, now: Date): Markup {
  return html`<section class="card">
    <p>
      ${undoneBadge(undone)} ${undoneAmount(undone)} ${undone.fields === 1 ? 'has its' : 'have their'} old
      value again, since ${instant(undone.at, now)}. The figures below are those of the run as it ended.
    </p>
  </section>`
}

/** Names a few fields: all of them for fifty records are a page of many screens, and each record's own page has them. */
function fieldsText(fields: readonly string[]): string {
  const named = fields.slice(0, fields.length > fieldsShown + 1 ? fieldsShown : fields.length).map(words)
  const more = fields.length - named.length
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function pageOf(id: string, place: string, status: string | undefined): string {
  return `/runs/${id}?${place}${status ? `&status=${status}` : ''}#records-title`
}

export function runRegions(live: LiveRun, now: Date): Record<string, Markup> {
  const { ended, open, perSecond: rate, leftMs } = progressOf(live, now)
  const isOpen = live.state === 'scanning' || live.state === 'working'
  const total = Math.max(live.records, ended + open + live.counts.parked)
  const parts = barLegend.map(([name, className]) => ({ name, className, value: live.counts[name] }))
  return {
    'run-progress': html` <p class="run-foot">
        <span>${badge(live.state)}</span
        ><span class="run-count"><strong>${count(ended)}</strong> of ${counted(total, 'record')} ended</span
        >${
          isOpen && rate > 0 ? html`<span>${perSecond(rate)}/s</span>` : ''
        }${leftMs === undefined ? '' : html`<span>about ${duration(leftMs)} left</span>`}<span
          >${usd(live.settledAtomic)} settled</span
        >
      </p>
      ${stackedBar(parts, total, `${count(ended)} of ${count(total)} records ended`)}
      <ul class="legend">
        ${parts.map(({ name, className, value }) => html`<li><span class="dot ${className}"></span>${count(value)} ${name}</li>`)}${
          open > 0 ? html`<li><span class="dot rest"></span>${count(open)} left</li>` : ''
        }
      </ul>`,
  }
}

function funnelList(funnel: Funnel): Markup {
  const steps: [string, number, string][] = [
    ['Read', funnel.records, 'from the source'],
    ['Looked up', funnel.asked, 'at the service'],
    ['Matched', funnel.matched, 'found at the service'],
    ['Written', funnel.filled, 'at least one field written'],
    ['Changed', funnel.changed, 'at least one value replaced'],
  ]
  return html`<ol class="funnel">
      ${steps.map(
        ([name, value, meaning]) =>
          html`<li>
            <p class="bar-head">
              <span>${name} <small>${meaning}</small></span
              ><span>${count(value)}</span>
            </p>
            ${stackedBar(
              [{ name, className: 'fill', value }],
              funnel.records,
              `${name}: ${count(value)} of ${count(funnel.records)}`,
            )}
          </li>`,
      )}
    </ol>
    <p class="note">
      ${count(funnel.unchanged)} unchanged · ${count(funnel.skipped)} skipped · ${count(funnel.rejected)}
      rejected · ${count(funnel.parked)} parked
    </p>`
}

function costList(funnel: Funnel): Markup {
  const { settledAtomic, inDoubtAtomic, lostAtomic } = funnel
  const { creditsAtomic, creditsInDoubtAtomic, creditsLostAtomic } = funnel
  const per = (records: number) => {
    const paid = paidPer(funnel, records)
    return paid ? cost(paid.usd, paid.credits) : '–'
  }
  return html`<dl class="facts">
    <div>
      <dt>Settled</dt>
      <dd class="big">${cost(settledAtomic, creditsAtomic)}</dd>
    </div>
    <div>
      <dt>In doubt</dt>
      <dd>${cost(inDoubtAtomic, creditsInDoubtAtomic)}</dd>
    </div>
    <div>
      <dt>Lost</dt>
      <dd>${cost(lostAtomic, creditsLostAtomic)}</dd>
    </div>
    <div>
      <dt>Cost per matched record</dt>
      <dd>${per(funnel.matched)}</dd>
    </div>
    <div>
      <dt>Cost per written record</dt>
      <dd>${per(funnel.filled)}</dd>
    </div>
  </dl>`
}

const statuses = ['written', 'unchanged', 'skipped', 'rejected', 'parked']

function statusFilter(id: string, current: string | undefined): Markup {
  return html`<ul class="chips" aria-label="Show records by status">
    <li>
      <a href="/runs/${id}#records-title" ${current === undefined ? html`aria-current="true"` : ''}>all</a>
    </li>
    ${statuses.map(
      (status) =>
        html`<li>
          <a
            href="/runs/${id}?status=${status}#records-title"
            ${current === status ? html`aria-current="true"` : ''}
            >${status}</a
          >
        </li>`,
    )}
  </ul>`
}
