import { html } from 'hono/html'
import type { Verdict } from '../../../../domain/words.ts'
import { mayAct } from '../../access/access.ts'
import type { ListJob, ListQuote } from '../../model/lists/list-actions.ts'
import type { ListHistory, ListView, RowPage } from '../../model/lists/lists-port.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { connectorName, cost, count, counted, usd, words } from '../../view/format.ts'
import type { Page, Shell } from '../../view/layout.ts'
import { pager } from '../../view/pager.ts'
import { card, empty, facts, instant, table, type Markup } from '../../view/parts.ts'
import { actionsCard, jobCard } from './actions.ts'
import { historyCards } from './history.ts'
import { rowsTable, type RecordUrls } from './rows.ts'
import { verdictCounts, verdictFilter, waitingOf } from './verdicts.ts'

export interface ListDetail {
  list: ListView
  /** Undefined while the rows are compared. */
  rows: RowPage | undefined
  verdict: Verdict | undefined
  urls: RecordUrls
  history: ListHistory
  /** The cost of each of its runs. */
  costs: ReadonlyMap<string, string>
  job: ListJob | undefined
  /** Undefined for those who may not act, and where the settings allow no search. */
  quote: ListQuote | undefined
  /** The reason why an action was not started. */
  refused?: string | undefined
}

/** One list: what is known of it, its rows with their reasons, what can be done with it, and what was done. */
export function listPage(detail: ListDetail, shell: Shell): Page {
  const { list, job, quote, refused } = detail
  const { name, search, connector, entity, problem, faults } = list
  const waiting = waitingOf(list.verdicts) ?? 0
  const isOperator = shell.visitor.role !== undefined && mayAct(shell.visitor.role, 'operator')
  return {
    title: name,
    lead: html`${words(search).replace('.', ' ')}, against ${connectorName(connector)} ${inlineText(entity)}.
      <a href="/lists">All lists</a>`,
    current: '/lists',
    body: html`${refused === undefined ? '' : html`<div class="problem" role="alert">${blockText(refused, 600)}</div>`}
      ${job ? jobCard(name, job, shell) : ''}
      ${
        problem === undefined
          ? ''
          : html`<div class="problem" role="alert">
              Nothing can be said of it: ${blockText(problem, 600)}
            </div>`
      }
      ${faults.map((fault) => html`<div class="problem" role="alert">Nothing is made of its rows: ${blockText(fault, 600)}</div>`)}
      ${
        waiting > 0
          ? html`<p class="notice">
              <a href="/lists/${name}/review"
                >${waiting === 1 ? '1 row waits' : `${count(waiting)} rows wait`} for a person</a
              >, who says whether each is a record of ${connectorName(connector)}.
            </p>`
          : ''
      }
      <div class="columns even">
        ${card('facts', 'What is there', factList(list, shell))}
        ${isOperator && quote ? actionsCard(list, quote, job, shell) : ''}
      </div>
      ${list.parts.length > 1 ? card('parts', 'Parts', partTable(list.parts)) : ''} ${rowsCard(detail)}
      ${historyCards(detail, shell)}`,
  }
}

function factList(list: ListView, { now }: Shell): Markup {
  const { total, reachable, rows, pages, isComplete, isCurrent, startedAt, dropped, moved, spend, month } =
    list
  const droppedText = Object.entries(dropped).map(([reason, number]) => `${count(number)} ${words(reason)}`)
  return html`${facts([
    ['Total', total === null ? 'unknown before page 1 is bought' : count(total)],
    ['Reachable', reachable === null ? '–' : count(reachable)],
    [
      'Fetched',
      pages === 0
        ? 'nothing'
        : `${counted(rows, 'row')} on ${counted(pages, 'page')}${isComplete ? ', complete' : ''}`,
    ],
    ...(droppedText.length > 0 ? [['Not kept', droppedText.join(', ')] as const] : []),
    ...(moved > 0 ? [['Moved to another page meanwhile', count(moved)] as const] : []),
    ['Verdicts', verdictCounts(list.verdicts)],
    ['Cost of its pages', cost(spend.settledAtomic, spend.creditsAtomic)],
    ...(month.capAtomic === undefined
      ? []
      : [[`Spent in ${month.month}`, `${usd(month.spentAtomic)} of ${usd(month.capAtomic)}`] as const]),
    ...(spend.inDoubtAtomic > 0n ? [['In doubt', cost(spend.inDoubtAtomic, 0n)] as const] : []),
    ['Fetch begun', instant(startedAt, now, { none: 'never' })],
  ])}
  ${
    pages > 0 && !isCurrent
      ? html`<p class="note below">Its pages are no longer fresh: the next fetch buys them again.</p>`
      : ''
  }
  ${
    list.indexIsComplete
      ? ''
      : html`<p class="note below">
          The index of records is not complete: a row called new may be in ${connectorName(list.connector)}.
          <code>paydirt index ${list.connector}</code> reads it, at no cost.
        </p>`
  }`
}

function partTable(parts: ListView['parts']): Markup {
  return table<ListView['parts'][number]>(
    'Parts of the list, a search each',
    [
      { name: 'Part', isHead: true, cell: ({ name }) => inlineText(name) },
      { name: 'Total', isNumber: true, cell: ({ total }) => (total === null ? '–' : count(total)) },
      { name: 'Pages', isNumber: true, cell: ({ pages }) => count(pages) },
      { name: 'Rows', isNumber: true, cell: ({ rows }) => count(rows) },
      { name: 'Cut at page', isNumber: true, cell: ({ cutAt }) => (cutAt === null ? '–' : count(cutAt)) },
    ],
    parts,
  )
}

function rowsCard({ list, rows, verdict, urls }: ListDetail): Markup {
  if (list.pages === 0) return card('rows', 'Rows', empty('No page of it is in the ledger.'))
  if (!rows || !list.verdicts)
    return card(
      'rows',
      'Rows',
      html`<p role="status">The rows are being compared with the records; this page reloads by itself.</p>`,
    )
  const href = (page: number) =>
    `/lists/${list.name}?${new URLSearchParams({ ...(verdict ? { verdict } : {}), page: String(page) }).toString()}#rows-title`
  return card(
    'rows',
    'Rows',
    html`${verdictFilter(list.name, list.verdicts, verdict)}
    ${rows.rows.length > 0 ? rowsTable(list.connector, rows.rows, urls) : empty('There is no such row.')}
    ${pager('Pages of rows', {
      previous: rows.page > 1 ? { href: href(rows.page - 1), text: 'Rows before' } : undefined,
      next: rows.page < rows.pages ? { href: href(rows.page + 1), text: 'Rows behind' } : undefined,
    })}`,
    { note: rows.pages > 1 ? `Page ${count(rows.page)} of ${count(rows.pages)}` : '' },
  )
}
