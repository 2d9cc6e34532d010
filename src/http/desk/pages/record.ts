import { html } from 'hono/html'
import type { RecordSpend } from '../../../domain/planning/explain.ts'
import type { FieldValue } from '../../../domain/record.ts'
import type { RecordTimeline, TimelineField, TimelineLookup } from '../model/record-timeline.ts'
import { blockText, inlineText } from '../view/foreign-text.ts'
import { connectorName, money, words } from '../view/format.ts'
import type { Page, Shell } from '../view/layout.ts'
import { badge, card, empty, table, instant, type Markup } from '../view/parts.ts'
import { recordSearch } from './runs.ts'

export interface RecordSearch {
  text: string
  problem?: string
  /** The records to choose from when several match. */
  choices: { connector: string; entity: string; recordId: string; at: Date }[]
  timeline: RecordTimeline | undefined
}

/** A record's timeline: what was looked up, what it cost, and which values were written. */
export function recordPage(found: RecordSearch, shell: Shell): Page {
  const { timeline, text, problem, choices } = found
  return {
    title: timeline ? `${connectorName(timeline.connector)} ${timeline.object}` : 'Find a record',
    lead: timeline
      ? html`Record <code>${inlineText(timeline.id)}</code>`
      : 'Search by its id in the CRM or file.',
    current: '/runs',
    body: html`${recordSearch(text)} ${problem ? html`<p class="problem" role="alert">${problem}</p>` : ''}
    ${
      choices.length > 0
        ? card(
            'choices',
            'Matching records',
            html`<ul class="groups">
              ${choices.map(
                ({ connector, entity, recordId, at }) =>
                  html`<li>
                    <span class="group-text"
                      ><a href="/records?q=${encodeURIComponent(`${connector}:${entity}:${recordId}`)}"
                        >${connectorName(connector)} ${inlineText(`${entity} ${recordId}`)}</a
                      ><small>last updated ${instant(at, shell.now)}</small></span
                    >
                  </li>`,
              )}
            </ul>`,
          )
        : ''
    }
    ${timeline ? timelineCards(timeline, shell.now) : ''}`,
  }
}

function timelineCards(timeline: RecordTimeline, now: Date): Markup {
  const byKey = new Map(timeline.lookups.map((lookup, index) => [lookup.key, index + 1]))
  const lookupName = (key: string | null) =>
    key === null ? '–' : byKey.has(key) ? `no. ${byKey.get(key)}` : '–'
  return html` ${card(
    'fields',
    'Fields written',
    timeline.fields.length > 0
      ? table<TimelineField>(
          'Fields in the order written',
          [
            { name: 'Field', isHead: true, cell: ({ field }) => words(field) },
            { name: 'Before', cell: ({ old }) => value(old, 'blank') },
            { name: 'After', cell: (write) => value(write.new, 'forgotten') },
            { name: 'Lookup', cell: ({ lookup }) => lookupName(lookup) },
            { name: 'Price', isNumber: true, cell: (write) => money(write.priceAtomic, write.currency) },
            {
              name: 'State',
              cell: (write) =>
                html`${badge(write.state, undefined, write.state === 'superseded' ? 'replaced' : words(write.state))}${write.undoneAt ? html` <small>${instant(write.undoneAt, now)}</small>` : ''}`,
            },
            {
              name: 'When',
              cell: (write) =>
                html`${instant(write.at, now)} <small><a href="/runs/${write.run}">run</a></small>`,
            },
          ],
          timeline.fields,
        )
      : empty('No field of this record was written.'),
  )}
  ${card(
    'lookups',
    'Lookups',
    timeline.lookups.length > 0
      ? table<{ lookup: TimelineLookup; place: number }>(
          'Lookups for this record',
          [
            { name: 'No.', isNumber: true, cell: ({ place }) => String(place) },
            {
              name: 'Lookup',
              isHead: true,
              cell: ({ lookup }) =>
                html`${words(lookup.operation).replace('.', ' ')}<small class="key"
                    >${inlineText(keyOf(lookup.key), 120)}</small
                  >`,
            },
            { name: 'Answer', cell: ({ lookup }) => badge(lookup.outcome ?? lookup.state) },
            { name: 'Answered', cell: ({ lookup }) => instant(lookup.answeredAt, now) },
            { name: 'Fresh until', cell: ({ lookup }) => instant(lookup.freshUntil, now) },
            { name: 'Paid', cell: ({ lookup }) => charges(lookup, now) },
          ],
          timeline.lookups.map((lookup, index) => ({ lookup, place: index + 1 })),
        )
      : empty('No lookup was made for this record.'),
    { note: `${spendText(timeline.spend)} for this record in all runs` },
  )}
  ${card(
    'tasks',
    'Runs',
    timeline.tasks.length > 0
      ? table<RecordTimeline['tasks'][number]>(
          'Runs that included this record',
          [
            {
              name: 'Run',
              isHead: true,
              cell: ({ run }) => html`<a href="/runs/${run}"><code>${run}</code></a>`,
            },
            { name: 'Status', cell: ({ status }) => badge(status) },
            { name: 'Reason', cell: ({ reason }) => blockText(reason ?? '–') },
            { name: 'When', cell: ({ at }) => instant(at, now) },
          ],
          timeline.tasks,
        )
      : empty('No run included this record.'),
  )}`
}

function spendText({ settledAtomic, inDoubtAtomic, lostAtomic, creditsAtomic }: RecordSpend): string {
  return [
    `${money(settledAtomic, 'USD')} settled`,
    ...(creditsAtomic > 0n ? [`${money(creditsAtomic, 'credit')} settled`] : []),
    ...(inDoubtAtomic > 0n ? [`${money(inDoubtAtomic, 'USD')} in doubt`] : []),
    ...(lostAtomic > 0n ? [`${money(lostAtomic, 'USD')} lost`] : []),
  ].join(', ')
}

function charges(lookup: TimelineLookup, now: Date): Markup {
  if (lookup.charges.length === 0) return html`–`
  return html`<ul class="plain-list">
    ${lookup.charges.map(
      (charge) =>
        html`<li>
          ${money(charge.amountAtomic, charge.currency)} ${badge(charge.state)}
          <small
            >${instant(charge.at, now)}${
              charge.transaction ? html` · <code>${inlineText(charge.transaction, 11)}</code>` : ''
            }</small
          >
        </li>`,
    )}
  </ul>`
}

/** Returns the key without its operation, which has a column of its own. */
function keyOf(key: string): string {
  return key.slice(key.indexOf('|') + 1)
}

function value(content: FieldValue | null, none: string): Markup {
  return content === null ? html`<span class="none">${none}</span>` : blockText(String(content))
}
