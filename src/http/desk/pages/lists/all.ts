import { html } from 'hono/html'
import type { ListView } from '../../model/lists/lists-port.ts'
import { blockText } from '../../view/foreign-text.ts'
import { connectorName, cost, count, words } from '../../view/format.ts'
import type { Page, Shell } from '../../view/layout.ts'
import { card, empty, instant, table, type Markup } from '../../view/parts.ts'
import { verdictCounts, waitingOf } from './verdicts.ts'

/** Every list of the settings, as far as the ledger has it. */
export function listsPage(lists: readonly ListView[], { now }: Shell): Page {
  return {
    title: 'Lists',
    lead: 'Searches of the service whose rows are compared with the records of a CRM, before anything is paid for one of them.',
    current: '/lists',
    body: card(
      'lists',
      'Lists',
      lists.length > 0
        ? table<ListView>(
            'Lists of the settings',
            [
              {
                name: 'List',
                isHead: true,
                cell: ({ name, search, connector, entity }) =>
                  html`<a href="/lists/${name}">${name}</a
                    ><small
                      >${words(search).replace('.', ' ')} · ${connectorName(connector)} ${entity}</small
                    >`,
              },
              { name: 'Total', isNumber: true, cell: ({ total }) => known(total) },
              { name: 'Reachable', isNumber: true, cell: ({ reachable }) => known(reachable) },
              { name: 'Fetched', isNumber: true, cell: ({ rows }) => count(rows) },
              { name: 'Verdicts', cell: (list) => verdictsOf(list) },
              {
                name: 'To review',
                isNumber: true,
                cell: ({ name, verdicts }) => {
                  const waiting = waitingOf(verdicts)
                  return waiting === undefined || waiting === 0
                    ? known(waiting ?? null)
                    : html`<a href="/lists/${name}/review">${count(waiting)}</a>`
                },
              },
              {
                name: 'Cost',
                isNumber: true,
                cell: ({ spend }) => cost(spend.settledAtomic, spend.creditsAtomic),
              },
              { name: 'Last fetch', cell: ({ startedAt }) => instant(startedAt, now, { none: 'none' }) },
            ],
            lists,
          )
        : empty('There are no lists. Name one under lists in paydirt.config.ts, then restart.'),
    ),
  }
}

function verdictsOf({ problem, faults, verdicts }: ListView): Markup | string {
  const trouble = problem ?? faults[0]
  if (trouble !== undefined) return html`<span class="problem-text">${blockText(trouble, 120)}</span>`
  return verdictCounts(verdicts)
}

function known(value: number | null): string {
  return value === null ? '–' : count(value)
}
