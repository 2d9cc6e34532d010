import { stringify } from 'csv-stringify/sync'
import { guardFormula } from '../../../connectors/csv/index.ts'
import { formatUsd } from '../../../domain/money.ts'
import type { FieldChange } from '../../../domain/record.ts'
import type { Database } from '../../../store/database/database.ts'
import { exportedRecords, type ExportedRecord } from '../../../store/views/run-export.ts'

const columns = [
  'place',
  'record',
  'status',
  'reason',
  'updated_at',
  'record_cost_usd',
  'record_cost_credits',
  'field',
  'before',
  'after',
  'field_state',
  'field_cost_usd',
  'field_cost_credits',
]

const recordsAtOnce = 500

/**
 * Yields the records of a run as CSV, page by page, so that a run of any size takes the same memory: a row for each field that
 * was written, and one for a record without any. The cost of a record is in its first row, so that the column adds up; a lookup
 * that records share without being duplicates counts with each. No cell can run as a formula in a spreadsheet.
 */
export async function* runAsCsv(db: Database, runId: string): AsyncGenerator<string> {
  // The mark makes spreadsheets read UTF-8.
  yield `\ufeff${stringify([columns], { record_delimiter: 'windows' })}`
  let after = 0
  for (;;) {
    const records = await exportedRecords(db, runId, { after, limit: recordsAtOnce })
    const last = records.at(-1)
    if (!last) return
    yield stringify(records.flatMap(rowsOf), { record_delimiter: 'windows', quote_record_delimiter: true })
    after = last.ordinal
  }
}

function rowsOf(record: ExportedRecord): string[][] {
  const fields = fieldsOf(record)
  const duplicate = record.duplicateOf === null ? [] : [`duplicate of place ${record.duplicateOf}`]
  return (fields.length > 0 ? fields : [noField]).map((field, index) =>
    [
      String(record.ordinal),
      record.recordId,
      record.status,
      [...duplicate, ...(record.reason === null ? [] : [record.reason])].join('; '),
      record.updatedAt.toISOString(),
      index === 0 ? formatUsd(record.usdAtomic) : '',
      index === 0 ? formatUsd(record.creditsAtomic) : '',
      ...field,
    ].map(guardFormula),
  )
}

const noField = ['', '', '', '', '', '']

function fieldsOf({ fields, patch }: ExportedRecord): string[][] {
  if (fields.length === 0)
    return Object.entries(patch ?? {}).map(([field, change]) => [
      field,
      '',
      afterOf(change),
      'written',
      '',
      '',
    ])
  return fields.map((write) => [
    write.field,
    textOf(write.old),
    textOf(write.new),
    write.state,
    write.currency === 'credit' ? '' : formatUsd(write.priceAtomic),
    write.currency === 'credit' ? formatUsd(write.priceAtomic) : '',
  ])
}

function afterOf(change: FieldChange): string {
  if ('clear' in change) return ''
  return textOf('restore' in change ? change.restore : change.set)
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value)
}
