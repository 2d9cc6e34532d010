import type { Page } from 'playwright-core'
import { textMonitor } from './fill-monitors.ts'
import { textPipeline } from './fill-signals.ts'
import { textList, textListPlan } from './fill-lists.ts'

/** Ids of the rows that `fillLedger` made, for the addresses of pages. */
export interface Filled {
  run: string
  csvRun: string
  record: string
  plan: string
  account: string
  text: string
}

interface DeskPage {
  /** Part of the names of screenshots. */
  name: string
  path: (filled: Filled) => string
  /** Waits for what a script draws, or brings the page into the state to be looked at. */
  prepare?: (page: Page) => Promise<void>
  /** The part of the page that is ours; default: all of it. */
  scope?: string
  signedOut?: true
}

/**
 * Every page of the desk. A new page joins by one line: each is then opened with every text of `texts.ts`, at two widths and
 * in both themes. A text that only this page shows is put into the ledger by a line in `fill-ledger.ts`.
 */
export const deskPages: readonly DeskPage[] = [
  { name: 'now', path: () => '/' },
  { name: 'runs', path: () => '/runs' },
  { name: 'run', path: ({ run }) => `/runs/${run}` },
  { name: 'run-of-a-file', path: ({ csvRun }) => `/runs/${csvRun}` },
  { name: 'record', path: ({ record }) => `/records?q=${encodeURIComponent(record)}` },
  { name: 'records', path: () => '/records' },
  { name: 'records-found', path: ({ text }) => `/records?q=${encodeURIComponent(text.slice(0, 1_000))}` },
  {
    name: 'records-by-cause',
    path: ({ text }) => `/records?cause=${encodeURIComponent(text.slice(0, 1_000))}`,
  },
  // The first task of the first run is written, the fifth is parked: an operator is offered retry and skip.
  { name: 'task', path: () => '/tasks/1' },
  { name: 'task-parked', path: () => '/tasks/5' },
  { name: 'no-such-task', path: () => '/tasks/0' },
  { name: 'sync', path: () => '/sync' },
  { name: 'sync-plan', path: ({ plan }) => `/sync/plans/${plan}` },
  // It loads itself again every few seconds; an answer without content leaves it as it is.
  {
    name: 'sync-plan-begun',
    path: ({ plan }) => `/sync/plans/${plan}-begun`,
    prepare: async (page) =>
      void (await page.route('**/sync/plans/*', (route) => route.fulfill({ status: 204 }))),
  },
  {
    name: 'spend',
    path: () => '/spend',
    prepare: (page) => page.locator('#spend-chart[data-drawn]').waitFor(),
  },
  { name: 'run-comparison', path: ({ run }) => `/runs/${run}/compare` },
  { name: 'charts', path: () => '/charts' },
  { name: 'run-undo', path: ({ run }) => `/runs/${run}/undo` },
  { name: 'lists', path: () => '/lists' },
  {
    name: 'list',
    path: () => `/lists/${textList}`,
    prepare: async (page) => void (await page.locator('.actions summary').last().click()),
  },
  { name: 'list-rows', path: () => `/lists/${textList}?verdict=ambiguous` },
  {
    name: 'list-review',
    path: () => `/lists/${textList}/review`,
    prepare: async (page) => void (await page.getByText('Another record').first().click()),
  },
  { name: 'list-plan', path: () => `/lists/${textList}/plans/${textListPlan}` },
  { name: 'signals', path: () => `/signals?pipeline=${textPipeline}` },
  { name: 'signals-all', path: () => '/signals?show=all' },
  { name: 'signals-gone', path: () => '/signals?show=gone' },
  {
    name: 'signals-account',
    path: ({ account }) => `/signals/account?record=${encodeURIComponent(account)}`,
  },
  { name: 'monitors', path: () => '/monitors' },
  { name: 'monitor', path: () => `/monitors/${textMonitor}` },
  { name: 'champions', path: () => '/champions' },
  { name: 'failures', path: () => '/failures' },
  {
    name: 'failure-group',
    path: () => '/failures',
    async prepare(page) {
      await page.locator('.failure .meta a[href^="/failures/"]').first().click()
      await page.getByRole('heading', { name: 'Failures of one cause' }).waitFor()
    },
  },
  { name: 'schedule-run', path: () => `/schedules/run?name=${'n'.repeat(40)}` },
  { name: 'contract', path: () => '/contract' },
  { name: 'contract-operation', path: () => '/contract/job.search' },
  { name: 'settings', path: () => '/settings' },
  { name: 'audit', path: () => '/audit' },
  // The markup of bull-board is not ours; only our bar on its page is.
  {
    name: 'queues',
    path: () => '/queues',
    prepare: (page) => page.getByText('write-back').first().waitFor(),
    scope: '.desk-bar',
  },
  { name: 'no-such-run', path: ({ text }) => `/runs/${encodeURIComponent(text.slice(0, 1_000))}` },
  // A path with control characters is refused before it is a page's.
  {
    name: 'no-such-page',
    path: ({ text }) => `/${encodeURIComponent(text.slice(0, 1_000).replaceAll(/\p{Cc}/gu, ' '))}`,
  },
  { name: 'sign-in', path: () => '/sign-in', signedOut: true },
]
