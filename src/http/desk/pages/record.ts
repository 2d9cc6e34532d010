import { html } from 'hono/html'
import type { RecordSpend } from '../../../domain/planning/explain.ts'
import { recordName } from '../../../domain/search/record-name.ts'
import type { RecordLinks } from '../model/record-links.ts'
import type { RecordTimeline, TimelineField, TimelineTask } from '../model/record-timeline.ts'
import { blockText, inlineText } from '../view/foreign-text.ts'
import { connectorName, money, runName, words } from '../view/format.ts'
import type { Page, Shell } from '../view/layout.ts'
import { badge, card, empty, table, instant, type Markup } from '../view/parts.ts'
import { recordLink, recordSearch } from './find.ts'
import { lookupsCard, valueText, writtenText } from './lookups.ts'
import { optionsLine } from '../view/code-words.ts'

export interface RecordView {
  timeline: RecordTimeline
  /** The address of its page in the CRM. */
  url: string | undefined
  links: Pick<RecordLinks, 'transactionUrl'>
}

/** A record's timeline: what was looked up, what it cost, and which values were written. */
export function recordPage({ timeline, url, links }: RecordView, { visitor, now }: Shell): Page {
  const { tasks, fields, lookups, spend } = timeline
  const known = tasks.findLast(({ identity }) => recordName(identity) !== undefined)
  const name = known && recordName(known.identity)
  const source = `${connectorName(timeline.connector)} ${timeline.object}`
  const byKey = new Map(lookups.map((lookup, index) => [lookup.key, index + 1]))
  const lookupName = (key: string | null) =>
    key === null ? '–' : byKey.has(key) ? `no. ${byKey.get(key)}` : '–'
  return {
    title: name ?? source,
    lead: html`${name === undefined ? '' : html`${source} · `}record <code>${inlineText(timeline.id)}</code>${
        url === undefined
          ? ''
          : html` · <a href="${url}" rel="noreferrer">Open in ${connectorName(timeline.connector)}</a>`
      }`,
    current: '/records',
    body: html`${recordSearch(visitor)} ${mergers(timeline)}
    ${card(
      'fields',
      'Fields written',
      fields.length > 0
        ? html`${table<TimelineField>(
            'Fields in the order written',
            [
              { name: 'Field', isHead: true, cell: ({ field }) => words(field) },
              { name: 'Before', cell: ({ old }) => valueText(old, 'blank') },
              { name: 'After', cell: (write) => writtenText(write.new) },
              { name: 'Lookup', cell: ({ lookup }) => lookupName(lookup) },
              { name: 'Price', isNumber: true, cell: (write) => money(write.priceAtomic, write.currency) },
              { name: 'State', cell: (write) => writeState(write, now) },
              {
                name: 'When',
                cell: (write) =>
                  html`${instant(write.at, now)} <small><a href="/runs/${write.run}">run</a></small>`,
              },
            ],
            fields,
          )}${optionsNote(timeline.connector, fields)}`
        : empty('No field of this record was written.'),
    )}
    ${lookupsCard({
      lookups,
      emptyText: 'No lookup was made for this record.',
      note: `${spendText(spend)} for this record in all runs`,
      links,
      now,
    })}
    ${card(
      'tasks',
      'Runs',
      tasks.length > 0
        ? table<TimelineTask>(
            'Runs that included this record, the latest first',
            [
              {
                name: 'Run',
                isHead: true,
                cell: (task) => html`<a href="/runs/${task.run}">${inlineText(runName(task))}</a>`,
              },
              { name: 'Status', cell: ({ status }) => badge(status) },
              { name: 'Reason', cell: ({ reason }) => (reason === null ? '–' : blockText(reason)) },
              { name: 'When', cell: ({ at }) => instant(at, now) },
              {
                name: 'Details',
                cell: ({ task, status }) =>
                  html`<a href="/tasks/${String(task)}"
                    >${status === 'parked' || status === 'rejected' ? 'details, retry' : 'details'}</a
                  >`,
              },
            ],
            tasks.toReversed(),
          )
        : empty('No run included this record.'),
    )}`,
  }
}

function mergers({ connector, object, mergedFrom, mergedInto }: RecordTimeline): Markup {
  const link = (id: string) => recordLink({ connector, entity: object }, id)
  return html`${mergedInto === null ? '' : html`<p class="note">Merged into ${link(mergedInto)}.</p>`}
  ${
    mergedFrom.length === 0
      ? ''
      : html`<p class="note">
          Includes what was merged into it:
          ${mergedFrom.map((id) => html`<code>${inlineText(id, 60)}</code> `)}
        </p>`
  }`
}

export function writeState(
  write: { state: string; reason?: string | null; undoneAt: Date | null },
  now: Date,
): Markup {
  // One word for it on every page and command: a rejected record is something else.
  const isLeftOut = write.state === 'rejected'
  return html`${isLeftOut ? badge('left_out') : badge(write.state)}${
    write.reason ? html` <small>${inlineText(write.reason)}</small>` : ''
  }${write.undoneAt ? html` <small>${instant(write.undoneAt, now)}</small>` : ''}`
}

function optionsNote(connector: string, fields: readonly TimelineField[]): Markup | string {
  return optionsLine(
    connector,
    fields.map(({ reason }) => ({ reason: `(${reason ?? ''})` })),
  )
}

function spendText({ settledAtomic, inDoubtAtomic, lostAtomic, creditsAtomic }: RecordSpend): string {
  return [
    `${money(settledAtomic, 'USD')} settled`,
    ...(creditsAtomic > 0n ? [`${money(creditsAtomic, 'credit')} settled`] : []),
    ...(inDoubtAtomic > 0n ? [`${money(inDoubtAtomic, 'USD')} in doubt`] : []),
    ...(lostAtomic > 0n ? [`${money(lostAtomic, 'USD')} lost`] : []),
  ].join(', ')
}
