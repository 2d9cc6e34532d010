import { html } from 'hono/html'
import { typeNames } from '../../../../domain/signals/reason.ts'
import type { ReportedAccount, ReportedName } from '../../../../domain/signals/report.ts'
import { mayAct } from '../../access/access.ts'
import type {
  AccountPage,
  MovedAccounts,
  PipelineJob,
  PipelinePlan,
  PipelineView,
} from '../../model/watching/signals-port.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { connectorName, cost, count, counted, usd } from '../../view/format.ts'
import { jobCard } from '../../view/job-card.ts'
import type { Page, Shell } from '../../view/layout.ts'
import { pager } from '../../view/pager.ts'
import { card, empty, facts, instant, table, type Markup } from '../../view/parts.ts'
import { tabs } from '../../view/tabs.ts'
import { accountName, changeBadge, evidenceLine, points } from './accounts.ts'
import { pipelineActions, planCard } from './pipeline-actions.ts'

/** The periods for which the page tells what moved, in days. */
export const periods = [7, 30, 90] as const
export const shownParts = ['moved', 'all', 'new', 'gone'] as const

export interface SignalsView {
  pipelines: readonly PipelineView[]
  pipeline: PipelineView
  days: (typeof periods)[number]
  shown: (typeof shownParts)[number]
  report: MovedAccounts
  /** The number of accounts of all, and one page of those that are shown. */
  rows:
    | { of: 'moved'; accounts: readonly ReportedAccount[] }
    | { of: 'all'; accounts: AccountPage['accounts'] }
    | { of: 'names'; accounts: readonly ReportedName[] }
  page: number
  pages: number
  job: PipelineJob | undefined
  plan: PipelinePlan | undefined
  refused?: string | undefined
}

const lead = 'Accounts at which something moved, with the change of their score and the evidence for it.'

/** The page of a config without a pipeline. */
export function noSignalsPage(): Page {
  return {
    title: 'Signals',
    lead,
    current: '/signals',
    body: card(
      'signals',
      'Pipelines',
      empty(
        'No accounts are watched. Name a pipeline under signals in paydirt.config.ts, then restart; docs/signals.md has an example.',
      ),
    ),
  }
}

/** The accounts of one pipeline that moved in a period, what is known of it, and its actions. */
export function signalsPage(view: SignalsView, shell: Shell): Page {
  const { pipelines, pipeline, job, plan, refused } = view
  const isOperator = shell.visitor.role !== undefined && mayAct(shell.visitor.role, 'operator')
  return {
    title: 'Signals',
    lead,
    current: '/signals',
    body: html`${refused === undefined ? '' : html`<div class="problem" role="alert">${blockText(refused, 600)}</div>`}
      ${
        pipelines.length > 1
          ? tabs(
              'Pipelines',
              pipelines.map((each) => ({
                text: each.name,
                number: each.accounts,
                href: addressOf(view, { pipeline: each.name }),
                isChosen: each.name === pipeline.name,
              })),
            )
          : ''
      }
      ${job ? jobCard(jobNames[job.kind], job, shell.now, runLinks(job)) : ''} ${accountsCard(view)}
      <div class="columns even">
        ${card('facts', `Pipeline ${pipeline.name}`, factList(view, shell))}
        ${isOperator ? pipelineActions(pipeline, job, shell) : ''}
      </div>
      ${plan ? planCard(plan, shell) : ''}`,
  }
}

const jobNames: Readonly<Record<PipelineJob['kind'], string>> = {
  plan: 'Planning',
  run: 'Run of the pipeline',
}

function runLinks({ runs = [] }: PipelineJob): Markup | string {
  if (runs.length === 0) return ''
  return html`<p>${runs.map((id) => html`<a href="/runs/${id}">Open the run <code>${id}</code></a> `)}</p>`
}

function accountsCard(view: SignalsView): Markup {
  const { report, days, shown, page, pages } = view
  const { since, moved, added, gone, watched } = report
  const chosen = (part: SignalsView['shown'], text: string, number: number) => ({
    text,
    number,
    href: `${addressOf(view, { shown: part })}#accounts-title`,
    isChosen: part === shown,
  })
  const href = (to: number) => `${addressOf(view, { page: to })}#accounts-title`
  return card(
    'accounts',
    days === 7 ? 'Moved this week' : `Moved in ${days} days`,
    html`${tabs(
      'Period',
      periods.map((each) => ({
        text: `${each} days`,
        href: addressOf(view, { days: each }),
        isChosen: each === days,
      })),
    )}
    ${tabs('Accounts', [
      chosen('moved', 'moved', moved.length),
      chosen('all', 'all', watched),
      chosen('new', 'new', added.length),
      chosen('gone', 'gone', gone.length),
    ])}
    ${accountRows(view)}
    ${pager('Pages of accounts', {
      previous: page > 1 ? { href: href(page - 1), text: 'Accounts before' } : undefined,
      next: page < pages ? { href: href(page + 1), text: 'Accounts behind' } : undefined,
    })}`,
    {
      note: `${pages > 1 ? `Page ${count(page)} of ${count(pages)} · ` : ''}compared with ${since} (UTC)`,
    },
  )
}

function accountRows({ report, rows, pipeline, shown }: SignalsView): Markup {
  if (report.scoredOn === null)
    return empty(
      `Nothing was observed yet. Run the pipeline below, or with paydirt signals run ${pipeline.name}; a schedule does it by itself.`,
    )
  if (rows.accounts.length === 0)
    return empty(
      {
        moved: 'No account moved: nothing new was seen, and no stage changed.',
        all: 'The pipeline watches no account.',
        new: 'No account is new in this period.',
        gone: 'No account has left the source in this period.',
      }[shown],
    )
  if (rows.of === 'moved') return movedTable(rows.accounts)
  if (rows.of === 'all') return rankedTable(rows.accounts)
  return table<ReportedName>(
    shown === 'new' ? 'New accounts' : 'Accounts that are gone',
    [{ name: 'Account', isHead: true, cell: accountName }],
    rows.accounts,
  )
}

function movedTable(accounts: readonly ReportedAccount[]): Markup {
  return table<ReportedAccount>(
    'Accounts that moved, the greatest rise first',
    [
      { name: 'Account', isHead: true, cell: accountName },
      { name: 'Score', isNumber: true, cell: ({ hundredths }) => points(hundredths) },
      { name: 'Change', isNumber: true, cell: ({ changeHundredths }) => changeBadge(changeHundredths) },
      {
        name: 'Evidence',
        cell: ({ moves, evidence, newSignals }) =>
          html`<ul class="plain-list evidence">
            ${moves.map(({ day, from, to }) => html`<li>Stage ${inlineText(from, 40)} → ${inlineText(to, 40)} <small>seen first ${day}</small></li>`)}
            ${evidence.map((each) => html`<li>${evidenceLine(each)}</li>`)}
            ${newSignals > evidence.length ? html`<li><small>${counted(newSignals, 'new signal')} in all</small></li>` : ''}
          </ul>`,
      },
    ],
    accounts,
  )
}

function rankedTable(accounts: AccountPage['accounts']): Markup {
  return table<AccountPage['accounts'][number]>(
    'All accounts, the highest score first',
    [
      { name: 'Account', isHead: true, cell: accountName },
      { name: 'Score', isNumber: true, cell: ({ hundredths }) => points(hundredths) },
      { name: 'Stage', cell: ({ stage }) => (stage === null ? '–' : inlineText(stage, 60)) },
    ],
    accounts,
  )
}

function factList({ pipeline, report }: SignalsView, { now }: Shell): Markup {
  const { source, types, accounts, unmatched, signals, lastCheckAt, month } = pipeline
  return facts([
    [
      'Accounts of',
      'list' in source
        ? html`the list <a href="/lists/${source.list}">${source.list}</a>`
        : html`${connectorName(source.connector)}
          ${source.entity === undefined ? '' : inlineText(source.entity, 40)}`,
    ],
    ['Watched for', types.map((type) => typeNames[type].toLowerCase()).join(', ')],
    [
      'Checked',
      `${counted(accounts, 'account')}${unmatched > 0 ? `, ${count(unmatched)} unknown to the service` : ''}`,
    ],
    ['Signals in the ledger', count(signals)],
    ['Last check', instant(lastCheckAt, now, { none: 'never' })],
    ['Scores of', report.scoredOn ?? 'no day yet'],
    [`Paid since ${report.since}`, paidText(report)],
    [
      `Spent in ${month.month}`,
      `${usd(month.spentAtomic)}${month.capAtomic === undefined ? '' : ` of ${usd(month.capAtomic)}`}`,
    ],
  ])
}

function paidText({ spend }: MovedAccounts): string {
  const { settledAtomic, creditsAtomic, inDoubtAtomic, lostAtomic } = spend
  return [
    cost(settledAtomic, creditsAtomic),
    ...(inDoubtAtomic > 0n ? [`${usd(inDoubtAtomic)} in doubt`] : []),
    ...(lostAtomic > 0n ? [`${usd(lostAtomic)} lost`] : []),
  ].join(', ')
}

/** The address of the page with one thing changed. Another choice begins at its first page. */
function addressOf(
  { pipeline, days, shown }: Pick<SignalsView, 'pipeline' | 'days' | 'shown'>,
  change: { pipeline?: string; days?: number; shown?: string; page?: number },
): string {
  const query = new URLSearchParams({
    pipeline: change.pipeline ?? pipeline.name,
    ...(change.pipeline === undefined
      ? { days: String(change.days ?? days), show: change.shown ?? shown }
      : {}),
    ...(change.page === undefined ? {} : { page: String(change.page) }),
  })
  return `/signals?${query.toString()}`
}
