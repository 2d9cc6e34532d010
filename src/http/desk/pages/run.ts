import { html } from 'hono/html'
import type { Funnel, RunReason, RunRecord } from '../../../store/views/desk-runs.ts'
import { progressOf } from '../model/now.ts'
import { paidPer } from '../model/paid-per.ts'
import type { RunReading } from '../model/read-run.ts'
import { blockText, inlineText } from '../view/foreign-text.ts'
import { runName, cost, count, counted, duration, perSecond, words } from '../view/format.ts'
import type { Page, Shell } from '../view/layout.ts'
import { badge, card, empty, stackedBar, table, instant, undoneBadge, type Markup } from '../view/parts.ts'
import { pager } from '../view/pager.ts'
import { nameOrId, recordLink } from './find.ts'
import { barLegend } from './now-runs.ts'
import { runChoices, runControl } from './run/actions.ts'
import type { Undone } from '../../../store/writes/undone-fields.ts'
import { undoneAmount } from '../../../domain/values/undone-text.ts'
import { optionsLine } from '../view/code-words.ts'

const fieldsShown = 3

type Viewer = Pick<Shell, 'visitor' | 'now'>

export function runPage(reading: RunReading, shell: Shell): Page {
  const { run, status, records, nextAfter, previousBefore } = reading
  const regions = runRegions(reading, shell)
  const region = (id: string) => html`<div id="${id}">${regions[id]}</div>`
  const first = records[0]?.ordinal
  // The page of records that the visitor looks at is read again too.
  const place = new URLSearchParams({
    ...(status === undefined ? {} : { status }),
    ...(previousBefore === undefined || first === undefined ? {} : { after: String(first - 1) }),
  })
  return {
    title: runName(run),
    lead: html`<span id="run-lead">${regions['run-lead']}</span>`,
    current: '/runs',
    live: `run:${run.id}${place.size > 0 ? `?${place.toString()}` : ''}`,
    body: html` ${region('run-undone')}
      ${card('actions', 'Actions', html`${region('run-control')}${region('run-choices')}`)}
      ${card('progress', 'Progress', region('run-progress'))}
      <div class="columns even">
        ${card('funnel', 'Funnel', region('run-funnel'), { note: 'From records read to values changed' })}
        ${card('cost', 'Cost', region('run-cost'), { note: 'From the ledger' })}
      </div>
      ${card('why', 'Not written, or not in full', region('run-why'))}
      ${card(
        'records',
        'Records',
        html`${statusFilter(run.id, status)}${region('run-records')}${pager('Pages of records', {
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

/** Returns the parts of a run's page, all of one reading: while the run is at work and after it, no two of them disagree. */
export function runRegions(reading: RunReading, viewer: Viewer): Record<string, Markup> {
  const { run, funnel, undone, control, choices } = reading
  const { now } = viewer
  return {
    'run-lead': html`Run <code>${run.id}</code>, by ${words(run.trigger)}, recipe ${inlineText(run.recipe)},
      started
      ${instant(run.startedAt, now)}${
        run.finishedAt
          ? html`, ended ${instant(run.finishedAt, now)}
            (${duration(run.finishedAt.getTime() - run.startedAt.getTime())})`
          : ''
      }`,
    'run-undone': undone ? undoneNote(undone, now) : html``,
    'run-control': runControl(control, viewer),
    'run-choices': runChoices(run.id, choices, viewer),
    'run-progress': progressPart(reading, now),
    'run-funnel': funnelList(funnel),
    'run-cost': costList(funnel),
    'run-why': reasonsPart(reading),
    'run-records': recordsPart(reading, now),
  }
}

function reasonsPart({ run, reasons }: RunReading): Markup {
  if (reasons.length === 0)
    return empty('No record was skipped, rejected or parked, and no field was left out.')
  return html`${table<RunReason>(
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
}

function recordsPart({ run, records }: RunReading, now: Date): Markup {
  if (records.length === 0) return empty('No matching records.')
  return table<RunRecord>(
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
        cell: (row) => (row.fields.length > 0 ? fieldsText(row.fields) : blockText(row.reason ?? '–')),
      },
      { name: 'When', cell: ({ updatedAt }) => instant(updatedAt, now) },
    ],
    records,
  )
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

function progressPart({ live, funnel }: RunReading, now: Date): Markup {
  const { ended, open, perSecond: rate, leftMs } = progressOf(live, now)
  const isOpen = live.state === 'scanning' || live.state === 'working'
  const total = Math.max(live.records, ended + open + live.counts.parked)
  const parts = barLegend.map(([name, className]) => ({ name, className, value: live.counts[name] }))
  return html` <p class="run-foot">
      <span>${badge(live.state)}</span
      ><span class="run-count"><strong>${count(ended)}</strong> of ${counted(total, 'record')} ended</span>${
        isOpen && rate > 0 ? html`<span>${perSecond(rate)}/s</span>` : ''
      }${leftMs === undefined ? '' : html`<span>about ${duration(leftMs)} left</span>`}<span
        >${cost(funnel.settledAtomic, funnel.creditsAtomic)} settled</span
      >
    </p>
    ${stackedBar(parts, total, `${count(ended)} of ${count(total)} records ended`)}
    <ul class="legend">
      ${parts.map(({ name, className, value }) => html`<li><span class="dot ${className}"></span>${count(value)} ${name}</li>`)}${
        open > 0 ? html`<li><span class="dot rest"></span>${count(open)} left</li>` : ''
      }
    </ul>`
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
