import { clearedValue } from '../../../domain/field-policy/blocked-values.ts'
import { html } from 'hono/html'
import type { FieldValue } from '../../../domain/record.ts'
import type { RecordLinks } from '../model/record-links.ts'
import type { TimelineLookup } from '../model/record-timeline.ts'
import { blockText, inlineText } from '../view/foreign-text.ts'
import { money, words } from '../view/format.ts'
import { badge, card, empty, instant, table, type Markup } from '../view/parts.ts'

interface LookupList {
  lookups: readonly TimelineLookup[]
  emptyText: string
  note?: string
  links: Pick<RecordLinks, 'transactionUrl'>
  now: Date
}

/** The lookups of a record or a task, each with every attempt to pay for it. */
export function lookupsCard({ lookups, emptyText, note, links, now }: LookupList): Markup {
  return card(
    'lookups',
    'Lookups',
    lookups.length > 0
      ? table<{ lookup: TimelineLookup; place: number }>(
          'Lookups, in the order asked',
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
            { name: 'Paid', cell: ({ lookup }) => charges(lookup, links, now) },
          ],
          lookups.map((lookup, index) => ({ lookup, place: index + 1 })),
        )
      : empty(emptyText),
    note === undefined ? {} : { note },
  )
}

function charges(lookup: TimelineLookup, links: LookupList['links'], now: Date): Markup {
  if (lookup.charges.length === 0) return html`–`
  return html`<ul class="plain-list">
    ${lookup.charges.map(
      (charge) =>
        html`<li>
          ${money(charge.amountAtomic, charge.currency)} ${badge(charge.state)}
          <small
            >${instant(charge.at, now)}${charge.transaction ? html` · ${transaction(charge, links)}` : ''}</small
          >
        </li>`,
    )}
  </ul>`
}

/** A transaction's hash; a link where its chain has a block explorer. */
function transaction(
  { transaction: hash, network }: TimelineLookup['charges'][number],
  links: LookupList['links'],
): Markup {
  if (hash === null) return html``
  const url = network === null ? undefined : links.transactionUrl(network, hash)
  const code = html`<code title="${hash.slice(0, 200)}">${hash.slice(0, 10)}…</code>`
  return url === undefined
    ? code
    : html`<a
        href="${url}"
        rel="noreferrer"
        aria-label="Transaction ${hash.slice(0, 10)} in the block explorer"
        >${code}</a
      >`
}

/** Returns the key without its operation, which has a column of its own. */
function keyOf(key: string): string {
  return key.slice(key.indexOf('|') + 1)
}

/** Returns the value that was written: a field may have been cleared, and a value may have been forgotten. */
export function writtenText(value: FieldValue | null): Markup {
  return value === clearedValue ? valueText(null, 'cleared') : valueText(value, 'forgotten')
}

export function valueText(content: FieldValue | null, none: string): Markup {
  return content === null ? html`<span class="none">${none}</span>` : blockText(String(content))
}
