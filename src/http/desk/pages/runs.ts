import { html } from 'hono/html'
import type { Funnel, RunHead } from '../../../store/views/desk-runs.ts'
import { inlineText } from '../view/foreign-text.ts'
import { recordSearch } from './find.ts'
import { ago, runName, cost, count, words } from '../view/format.ts'
import type { Page, Shell } from '../view/layout.ts'
import { pager } from '../view/pager.ts'
import { badge, card, empty, table, instant, undoneBadge } from '../view/parts.ts'
import type { Undone } from '../../../store/writes/undone-fields.ts'

export interface RunList {
  runs: { run: RunHead; funnel: Funnel; undone: Undone | undefined }[]
  /** The addresses of the pages before and behind this one; undefined where there is none. */
  newer: string | undefined
  older: string | undefined
}

export function runsPage({ runs, newer, older }: RunList, { visitor, now }: Shell): Page {
  return {
    title: 'Runs',
    lead: 'Every sync, CSV and on-demand request, with its results.',
    current: '/runs',
    body: html` ${recordSearch(visitor)}
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
              {
                name: 'State',
                cell: ({ run, undone }) => html`${badge(run.state)}${undone ? undoneBadge(undone) : ''}`,
              },
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
          )}${pager('Pages of runs', {
            previous:
              newer === undefined
                ? undefined
                : { href: `/runs?newer=${encodeURIComponent(newer)}`, text: 'Newer runs' },
            next:
              older === undefined
                ? undefined
                : { href: `/runs?older=${encodeURIComponent(older)}`, text: 'Older runs' },
          })}`
        : empty('No runs yet.'),
    )}`,
  }
}
