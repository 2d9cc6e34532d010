import { html } from 'hono/html'
import type { FailureGroup, FailureRecord } from '../../../store/views/desk-failures.ts'
import { inlineText } from '../view/foreign-text.ts'
import { counted, runName } from '../view/format.ts'
import type { Page, Shell } from '../view/layout.ts'
import { card, empty, instant, table } from '../view/parts.ts'
import { failureItem } from './failures.ts'
import { recordLink } from './find.ts'

interface GroupDetail {
  group: FailureGroup
  records: FailureRecord[]
  /** The task behind which the next page starts; undefined on the last page. */
  next: bigint | undefined
}

/** The records of one cause. */
export function failureGroupPage({ group, records, next }: GroupDetail, shell: Shell): Page {
  return {
    title: 'Failures of one cause',
    lead: html`${counted(group.records, 'record')} in ${counted(group.runs, 'run')}.
      <a href="/failures">All failures</a>`,
    current: '/failures',
    body: html`<ul class="failures">
        ${failureItem(group, shell)}
      </ul>
      ${card(
        'records',
        'Records',
        records.length > 0
          ? html`${table<FailureRecord>(
              'Records, oldest first',
              [
                {
                  name: 'Record',
                  isHead: true,
                  cell: (record) =>
                    record.file === null
                      ? recordLink(record, record.recordId)
                      : html`<a href="/tasks/${String(record.task)}">line ${inlineText(record.recordId)}</a>`,
                },
                {
                  name: 'Run',
                  cell: (record) => html`<a href="/runs/${record.run}">${inlineText(runName(record))}</a>`,
                },
                { name: 'When', cell: ({ at }) => instant(at, shell.now) },
              ],
              records,
            )}${next === undefined ? '' : html`<p class="more"><a href="/failures/${group.id}?after=${String(next)}#records-title">Next page</a></p>`}`
          : empty('No further records.'),
      )}`,
  }
}
