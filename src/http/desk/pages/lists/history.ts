import { html } from 'hono/html'
import type { ListHistory } from '../../model/lists/lists-port.ts'
import { ago, count } from '../../view/format.ts'
import type { Shell } from '../../view/layout.ts'
import { badge, card, empty, instant, table, type Markup } from '../../view/parts.ts'

interface Shown {
  history: ListHistory
  /** The cost of each run, as the desk shows it. */
  costs: ReadonlyMap<string, string>
}

type Run = ListHistory['runs'][number]

const endings: Readonly<Record<string, string>> = {
  complete: 'complete',
  cut: 'cut: the service refused a page',
  replaced: 'replaced by a newer one',
}

/** The fetches of a list, and the runs that made records of it. */
export function historyCards({ history, costs }: Shown, { now }: Shell): Markup {
  return html`${card(
    'fetches',
    'Fetches',
    history.fetches.length > 0
      ? table<ListHistory['fetches'][number]>(
          'Fetches of the list, the latest first',
          [
            {
              name: 'Begun',
              isHead: true,
              cell: ({ id, startedAt }) => html`${instant(startedAt, now)}<small>no. ${id}</small>`,
            },
            {
              name: 'State',
              cell: ({ ending }) => (ending === null ? 'goes on' : (endings[ending] ?? ending)),
            },
            { name: 'Pages', isNumber: true, cell: ({ pages }) => count(pages) },
            { name: 'Arrived', isNumber: true, cell: ({ arrived }) => count(arrived) },
            { name: 'Kept', isNumber: true, cell: ({ stored }) => count(stored) },
          ],
          history.fetches,
        )
      : empty('Nothing was fetched yet.'),
  )}
  ${card(
    'runs',
    'Runs',
    history.runs.length > 0
      ? table<Run>(
          'Runs that made records of the list, the latest first',
          [
            {
              name: 'Run',
              isHead: true,
              cell: ({ id, startedAt }) =>
                html`<a href="/runs/${id}"><code>${id}</code></a
                  ><small>${ago(startedAt, now)}</small>`,
            },
            { name: 'State', cell: ({ state }) => badge(state) },
            { name: 'Made', isNumber: true, cell: ({ made }) => count(made) },
            { name: 'Taken back', isNumber: true, cell: ({ archived }) => count(archived) },
            { name: 'Existed', isNumber: true, cell: ({ exists }) => count(exists) },
            { name: 'Left out', isNumber: true, cell: ({ left }) => count(left) },
            { name: 'Cost', isNumber: true, cell: ({ id }) => costs.get(id) ?? '–' },
          ],
          history.runs,
        )
      : empty('No record was made of it yet.'),
  )}`
}
