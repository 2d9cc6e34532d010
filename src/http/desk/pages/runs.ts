import { html } from 'hono/html'
import type { Funnel, RunHead } from '../../../store/views/desk-runs.ts'
import { inlineText } from '../view/foreign-text.ts'
import { ago, runName, cost, count, words } from '../view/format.ts'
import { icon } from '../view/icons.ts'
import type { Page, Shell } from '../view/layout.ts'
import { badge, card, empty, table, instant, type Markup } from '../view/parts.ts'

export interface RunList {
  runs: { run: RunHead; funnel: Funnel }[]
  next: string | undefined
}

export function runsPage({ runs, next }: RunList, { now }: Shell): Page {
  return {
    title: 'Runs',
    lead: 'Every sync, CSV and on-demand request, with its results.',
    current: '/runs',
    body: html` ${recordSearch('')}
    ${card(
      'runs',
      'Runs',
      runs.length > 0
        ? html`${table<RunList['runs'][number]>(
            'Runs, newest first',
            [
              {
                name: 'Run',
                isHead: true,
                cell: ({ run }) =>
                  html`<a href="/runs/${run.id}">${inlineText(runName(run))}</a
                    ><small>${words(run.trigger)} · ${ago(run.startedAt, now)}</small>`,
              },
              { name: 'State', cell: ({ run }) => badge(run.state) },
              { name: 'Started', cell: ({ run }) => instant(run.startedAt, now) },
              { name: 'Records', isNumber: true, cell: ({ funnel }) => count(funnel.records) },
              { name: 'Matched', isNumber: true, cell: ({ funnel }) => count(funnel.matched) },
              { name: 'Written', isNumber: true, cell: ({ funnel }) => count(funnel.filled) },
              { name: 'Changed', isNumber: true, cell: ({ funnel }) => count(funnel.changed) },
              { name: 'Rejected', isNumber: true, cell: ({ funnel }) => count(funnel.rejected) },
              {
                name: 'Cost',
                isNumber: true,
                cell: ({ funnel }) => cost(funnel.settledAtomic, funnel.creditsAtomic),
              },
            ],
            runs,
          )}${next ? html`<p class="more"><a href="/runs?before=${encodeURIComponent(next)}">Older runs</a></p>` : ''}`
        : empty('No runs yet.'),
    )}`,
  }
}

export function recordSearch(text: string): Markup {
  return html`<search>
    <form class="search" method="get" action="/records">
      <label for="q">Find a record</label>
      <div class="search-row">
        <input
          id="q"
          name="q"
          type="search"
          value="${text}"
          maxlength="300"
          autocomplete="off"
          placeholder="hubspot:company:123, or an id"
        />
        <button type="submit">${icon('search')}<span>Find</span></button>
      </div>
    </form>
  </search>`
}
