import { html } from 'hono/html'
import type { Verdict } from '../../../../domain/champions/moved.ts'
import { formatUsd } from '../../../../domain/money.ts'
import type { ChampionRow } from '../../../../store/champions/champions-page.ts'
import { mayAct } from '../../access/access.ts'
import type { ChampionPage, WatchJob, WatchView } from '../../model/watching/champions-port.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { connectorName, count, counted, usd } from '../../view/format.ts'
import { jobCard } from '../../view/job-card.ts'
import { csrf, type Page, type Shell } from '../../view/layout.ts'
import { pager } from '../../view/pager.ts'
import { badge, card, empty, facts, instant, table, type Markup } from '../../view/parts.ts'
import { tabs } from '../../view/tabs.ts'
import { recordLink } from '../find.ts'

/** The verdicts in the order of the page: those that want a person first. */
export const shownVerdicts = [
  'moved',
  'left',
  'promoted',
  'unclear',
  'unknown',
  'renamed',
  'stays',
] as const satisfies readonly Verdict[]

const tones = {
  moved: 'accent',
  left: 'warn',
  promoted: 'ok',
  unclear: 'warn',
  unknown: 'quiet',
  renamed: 'quiet',
  stays: 'quiet',
} as const satisfies Record<Verdict, string>

export interface ChampionsView {
  watches: readonly WatchView[]
  watch: WatchView
  verdict: Verdict | undefined
  people: ChampionPage
  job: WatchJob | undefined
  refused?: string | undefined
}

const lead =
  'People who bought once, and where they work now: verdicts of their last check, and what it cost.'

/** The page of a config without a watch. */
export function noChampionsPage(): Page {
  return {
    title: 'Champions',
    lead,
    current: '/champions',
    body: card(
      'champions',
      'Champions',
      empty(
        'No people are watched. Name them under champions in paydirt.config.ts, then restart; docs/champions.md has an example.',
      ),
    ),
  }
}

/** The people of one watch by verdict, from where and to where they went, and the actions. */
export function championsPage(view: ChampionsView, shell: Shell): Page {
  const { watches, watch, job, refused } = view
  const isOperator = shell.visitor.role !== undefined && mayAct(shell.visitor.role, 'operator')
  return {
    title: 'Champions',
    lead,
    current: '/champions',
    body: html`${refused === undefined ? '' : html`<div class="problem" role="alert">${blockText(refused, 600)}</div>`}
      ${
        watches.length > 1
          ? tabs(
              'Watches',
              watches.map((each) => ({
                text: each.name,
                number: checkedOf(each),
                href: `/champions?watch=${each.name}`,
                isChosen: each.name === watch.name,
              })),
            )
          : ''
      }
      ${job ? jobCard(job.kind === 'plan' ? 'Planning' : 'Run', job, shell.now, runLinks(job)) : ''}
      ${peopleCard(view, shell)}
      <div class="columns even">
        ${card('facts', `Watch ${watch.name}`, factList(watch, shell))}
        ${isOperator ? actionsCard(watch, job, shell) : ''}
      </div>`,
  }
}

function runLinks({ runs = [] }: WatchJob): Markup | string {
  if (runs.length === 0) return ''
  return html`<p>${runs.map((id) => html`<a href="/runs/${id}">Open the run <code>${id}</code></a> `)}</p>`
}

function checkedOf({ verdicts }: WatchView): number {
  return Object.values(verdicts).reduce((sum, people) => sum + people, 0)
}

function peopleCard(view: ChampionsView, { now }: Shell): Markup {
  const { watch, verdict, people } = view
  const { page, pages } = people
  const href = (wanted: Verdict | undefined, to?: number) =>
    `/champions?${new URLSearchParams({
      watch: watch.name,
      ...(wanted === undefined ? {} : { verdict: wanted }),
      ...(to === undefined ? {} : { page: String(to) }),
    }).toString()}#people-title`
  return card(
    'people',
    'People',
    html`${
      checkedOf(watch) === 0
        ? ''
        : tabs('People by verdict', [
            {
              text: 'all',
              number: checkedOf(watch),
              href: href(undefined),
              isChosen: verdict === undefined,
            },
            ...shownVerdicts.flatMap((each) => {
              const number = watch.verdicts[each] ?? 0
              return number > 0 || each === verdict
                ? [{ text: each, number, href: href(each), isChosen: each === verdict }]
                : []
            }),
          ])
    }
    ${
      people.people.length > 0
        ? peopleTable(people.people, now)
        : empty(
            checkedOf(watch) === 0
              ? `Nobody was checked yet. Run the watch below, or with paydirt champions run ${watch.name}.`
              : 'Nobody has this verdict.',
          )
    }
    ${pager('Pages of people', {
      previous: page > 1 ? { href: href(verdict, page - 1), text: 'People before' } : undefined,
      next: page < pages ? { href: href(verdict, page + 1), text: 'People behind' } : undefined,
    })}`,
    { note: pages > 1 ? `Page ${count(page)} of ${count(pages)}` : '' },
  )
}

function peopleTable(people: readonly ChampionRow[], now: Date): Markup {
  return table<ChampionRow>(
    'People, those who left last first',
    [
      {
        name: 'Record',
        isHead: true,
        cell: ({ connector, entity, recordId }) =>
          html`${recordLink({ connector, entity }, recordId)}<small
              >${connectorName(connector)} ${inlineText(entity, 40)}</small
            >`,
      },
      { name: 'Verdict', cell: ({ verdict }) => badge(verdict, tones[verdict], verdict) },
      { name: 'From', cell: ({ known }) => employerOf(known) },
      {
        name: 'To',
        cell: ({ employer, joinedId, connector, entity }) =>
          employer
            ? html`${employerOf(employer)}${joinedId === null ? '' : html`<small>${recordLink({ connector, entity }, joinedId)}</small>`}`
            : '–',
      },
      { name: 'Seen to have left', cell: ({ leftAt }) => instant(leftAt, now) },
      { name: 'Checked', cell: ({ checkedAt }) => instant(checkedAt, now) },
    ],
    people,
  )
}

function employerOf(job: {
  name?: string | null | undefined
  domain?: string | null | undefined
  profileUrl?: string | null | undefined
  title?: string | null | undefined
}): Markup | string {
  const name = job.name ?? job.domain ?? job.profileUrl
  if (!name && !job.title) return '–'
  return html`${name ? inlineText(name, 60) : 'not known'}${job.title ? html` <small>${inlineText(job.title, 60)}</small>` : ''}`
}

function factList({ connector, days, lastCheckedAt, month, ...watch }: WatchView, { now }: Shell): Markup {
  return facts([
    ['People of', connectorName(connector)],
    ['Checked', counted(checkedOf({ connector, days, lastCheckedAt, month, ...watch }), 'person', 'people')],
    ['Looked up again after', counted(days, 'day')],
    ['Last check', instant(lastCheckedAt, now, { none: 'never' })],
    [
      `Spent in ${month.month}`,
      `${usd(month.spentAtomic)}${month.capAtomic === undefined ? '' : ` of ${usd(month.capAtomic)}`}`,
    ],
  ])
}

function actionsCard(
  { name, budgetAtomic }: WatchView,
  job: WatchJob | undefined,
  { visitor }: Shell,
): Markup {
  const token = csrf(visitor)
  if (job && !job.ended)
    return card(
      'actions',
      'Actions',
      html`<p class="note">One action at a time: the one above is at work.</p>`,
    )
  return card(
    'actions',
    'Actions',
    html`<div class="actions">
      <form method="post" action="/champions/${name}/plan">
        ${token}<button type="submit">Plan</button>
        <p class="note">Reads the people and says who is due and what it may cost. Buys nothing.</p>
      </form>
      <details class="ask">
        <summary>Run</summary>
        <form method="post" action="/champions/${name}/run">
          ${token}
          <p>
            Looks up those who are due, within the budget, and does what the settings declare for those who
            have left.
          </p>
          <label
            >Budget in USD
            <input
              name="budget"
              inputmode="decimal"
              autocomplete="off"
              required
              value="${budgetAtomic === undefined ? '' : formatUsd(budgetAtomic).replace(/(\.\d\d)0+$/, '$1')}"
          /></label>
          <button class="primary" type="submit">Yes, run within the budget</button>
        </form>
      </details>
    </div>`,
    { note: 'Nothing is paid before you have confirmed it' },
  )
}
