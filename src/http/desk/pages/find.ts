import { html } from 'hono/html'
import { recordName } from '../../../domain/search/record-name.ts'
import type { Identity } from '../../../domain/record.ts'
import type { FoundTask } from '../../../store/search/find-tasks.ts'
import type { Visitor } from '../access/gate.ts'
import { hasFilters, queryOf, type RecordSearch, type SearchParams } from '../model/record-search.ts'
import { blockText, inlineText, shortened } from '../view/foreign-text.ts'
import { connectorName, count, runName } from '../view/format.ts'
import { stateText } from '../view/state-words.ts'
import { icon } from '../view/icons.ts'
import { csrf, type Page, type Shell } from '../view/layout.ts'
import { pager } from '../view/pager.ts'
import { badge, card, empty, instant, table, type Markup } from '../view/parts.ts'

const states = ['looking_up', 'ready', 'written', 'unchanged', 'skipped', 'rejected', 'parked'] as const

/** Records by name, address, domain, profile or id, and by what became of them: a line for each run of a record. */
export function findPage(search: RecordSearch, { visitor, now }: Shell): Page {
  const { params, page, unsearchable } = search
  return {
    title: 'Records',
    lead: 'Each line is a record in one run, the latest first.',
    current: '/records',
    body: html`${searchForm(search, visitor)}
    ${
      unsearchable > 0 && params.text !== ''
        ? html`<p class="note">
            ${count(unsearchable)} of the newest records are found by id only, until their names are read.
          </p>`
        : ''
    }
    ${card('found', 'Records', html`${found(page.tasks, params, now)}${turns(search)}`)}`,
  }
}

function found(tasks: readonly FoundTask[], params: SearchParams, now: Date): Markup {
  if (tasks.length === 0) {
    return empty(
      params.text === '' && !hasFilters(params)
        ? 'No record was read yet.'
        : 'No record matches this search.',
    )
  }
  return table<FoundTask>(
    'Records, the latest first',
    [
      {
        name: 'Record',
        isHead: true,
        cell: (task) =>
          html`<a href="/tasks/${String(task.id)}">${nameOrId(task)}</a
            ><small>${recordLink(task, task.recordId)}</small>`,
      },
      { name: 'Run', cell: (task) => html`<a href="/runs/${task.run}">${inlineText(runName(task))}</a>` },
      { name: 'State', cell: ({ status }) => badge(status) },
      { name: 'Reason', cell: ({ reason }) => (reason === null ? '–' : blockText(reason)) },
      { name: 'When', cell: ({ at }) => instant(at, now) },
    ],
    tasks,
  )
}

function turns({ params, sealed, page: { tasks, hasNewer, hasOlder } }: RecordSearch): Markup {
  const [first, last] = [tasks[0], tasks.at(-1)]
  return pager('Pages of records', {
    previous:
      hasNewer && first ? { href: queryOf(params, sealed, { newer: first }), text: 'Newer' } : undefined,
    next: hasOlder && last ? { href: queryOf(params, sealed, { older: last }), text: 'Older' } : undefined,
  })
}

/** The name of a record, or its id where none is known. */
export function nameOrId({ identity, recordId }: { identity: Identity; recordId: string }): Markup {
  return inlineText(recordName(identity) ?? recordId)
}

export function recordLink(run: { connector: string; entity: string }, recordId: string): Markup {
  const name = `${run.connector}:${run.entity}:${recordId}`
  return html`<a href="/records?q=${encodeURIComponent(name)}"><code>${inlineText(recordId, 60)}</code></a>`
}

/** The field to find a record by. Sent as a form, because a name or an address must not stand in an address of the desk. */
export function recordSearch(visitor: Visitor, text = ''): Markup {
  return html`<search>
    <form class="search" method="post" action="/records">${csrf(visitor)} ${searchField(text)}</form>
  </search>`
}

function searchForm({ params, connectors, schedules }: RecordSearch, visitor: Visitor): Markup {
  const { text, connector, schedule, state, cause, from, to } = params
  return html`<search>
    <form class="search" method="post" action="/records">
      ${csrf(visitor)} ${searchField(text)}
      <div class="filters">
        ${choice('connector', 'Source', connector, connectors, connectorName)}
        ${choice('schedule', 'Schedule', schedule, schedules, (name) => name)}
        ${choice('state', 'State', state, states, stateText)}
        <label
          >Reason contains
          <input
            name="cause"
            value="${cause}"
            maxlength="300"
            autocomplete="off"
            placeholder="budget" /></label
        ><label>From (UTC) <input name="from" type="date" value="${from}" /></label
        ><label>To (UTC) <input name="to" type="date" value="${to}" /></label
        >${text !== '' || hasFilters(params) ? html`<a class="clear" href="/records">Clear</a>` : ''}
      </div>
    </form>
  </search>`
}

function searchField(text: string): Markup {
  return html`<label for="text">Find a record</label>
    <div class="search-row">
      <input
        id="text"
        name="text"
        type="search"
        value="${text}"
        maxlength="500"
        autocomplete="off"
        placeholder="name, e-mail, domain, profile or id"
      />
      <button type="submit">${icon('search')}<span>Find</span></button>
    </div>`
}

function choice(
  name: string,
  label: string,
  value: string,
  values: readonly string[],
  show: (value: string) => string,
): Markup {
  // A value of an older address stays chosen, so that the list shows what was asked for.
  const all = value === '' || values.includes(value) ? values : [value, ...values]
  return html`<label
    >${label}
    <select name="${name}">
      <option value="">any</option>
      ${all.map((each) => html`<option value="${each}" ${each === value ? 'selected' : ''}>${shortened(show(each), 60)}</option>`)}
    </select></label
  >`
}
