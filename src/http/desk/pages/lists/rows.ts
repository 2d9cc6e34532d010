import { html } from 'hono/html'
import type { MatchedRecord } from '../../../../domain/lists/judged-row.ts'
import type { ShownRow } from '../../model/lists/lists-port.ts'
import { blockText, inlineText } from '../../view/foreign-text.ts'
import { connectorName } from '../../view/format.ts'
import { table, type Markup } from '../../view/parts.ts'
import { recordLink } from '../find.ts'
import { verdictBadge } from './verdicts.ts'

/** The addresses of records in their CRM, by entity and id. */
export type RecordUrls = ReadonlyMap<string, string>

export function urlKey({ entity, recordId }: MatchedRecord): string {
  return `${entity} ${recordId}`
}

/** The name of a row as a person knows it, and below it what else tells it from others. */
export function rowName({ row: { values, serviceId } }: Pick<ShownRow, 'row'>): Markup {
  const name =
    values['company_name'] ?? values['full_name'] ?? values['domain'] ?? serviceId ?? 'a row without a name'
  return inlineText(String(name))
}

export function rowDetails({ row: { values } }: Pick<ShownRow, 'row'>): Markup {
  const parts = [
    'job_title',
    values['full_name'] === undefined ? '' : 'company_name',
    'domain',
    'profnet_url',
  ]
    .map((field) => values[field])
    .filter((value) => value !== undefined)
  return html`${parts.map((value, at) => html`${at > 0 ? ' · ' : ''}${inlineText(String(value), 100)}`)}`
}

/** Links to a record on the desk, and in its CRM where the address is known. */
export function crmRecord(connector: string, record: MatchedRecord, urls: RecordUrls): Markup {
  const url = urls.get(urlKey(record))
  return html`${recordLink({ connector, entity: record.entity }, record.recordId)}${
    url === undefined
      ? ''
      : html` <small><a href="${url}" rel="noreferrer">Open in ${connectorName(connector)}</a></small>`
  }`
}

export function rowsTable(connector: string, rows: readonly ShownRow[], urls: RecordUrls): Markup {
  return table<ShownRow>(
    'Rows of the list in the order of the search',
    [
      {
        name: 'Row',
        isHead: true,
        cell: (row) => html`${rowName(row)}<small>${rowDetails(row)}</small>`,
      },
      { name: 'Verdict', cell: ({ verdict }) => verdictBadge(verdict) },
      { name: 'Reason', cell: ({ reason }) => blockText(reason) },
      {
        name: 'Records',
        cell: ({ records }) =>
          records.length === 0
            ? '–'
            : html`<ul class="plain-list">
                ${records.slice(0, mostRecords).map((record) => html`<li>${crmRecord(connector, record, urls)}</li>`)}
                ${records.length > mostRecords ? html`<li>and ${records.length - mostRecords} more</li>` : ''}
              </ul>`,
      },
      { name: 'Page', isNumber: true, cell: ({ row }) => String(row.page) },
    ],
    rows,
  )
}

/** A domain or a name may be that of many records. */
export const mostRecords = 5
