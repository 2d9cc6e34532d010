import { fieldNames } from '../../domain/fields.ts'
import type { DescribedField } from '../../domain/mapping/mapping.ts'
import type { SourceRecord } from '../../domain/record.ts'
import type { Association, Connector, CurrentRecord, WriteResult } from '../connector.ts'
import { capabilities } from './capabilities.ts'
import type { CsvRow, OpenedCsv } from './read-csv.ts'

const pageSize = 500

/**
 * A CSV file as a source of records. Scanning streams it; a record's id is the line on which its row begins, and the
 * n-th record of a scan from the start is the row with ordinal n. The watermark is the ordinal of the last row handed
 * out, in decimal.
 *
 * Nothing is written into the file itself. A row stands for itself alone, so `read` finds every field blank and `write`
 * accepts every patch: the values stand in the ledger, and come out when the run is exported (`writeEnriched`).
 */
export function createCsvConnector({ csv }: { csv: OpenedCsv }): Connector {
  return {
    name: 'csv',
    capabilities,
    entities: { [csv.object]: csv.object },

    // The file was opened and its head read before the connector was made: nothing is left that could be missing.
    async check() {
      return { account: null, apiVersion: 'csv', missingScopes: [], problems: [] }
    },

    /** The columns that can come out: any canonical field, as text. */
    async describe() {
      return fieldNames(csv.object).map(asColumn)
    },

    /** Output columns are made by writing the file; there is nothing to make before. */
    async ensureFields() {
      return []
    },

    // A file tells neither when a row changed nor what it has besides its identifying columns, so `since` and `filter`
    // are for CRMs.
    async *scan(_entity, { after, limit = Infinity, signal }) {
      const begin = after === undefined ? 0 : Number(after)
      let records: SourceRecord[] = []
      let last = begin
      if (limit <= 0) return
      for await (const row of csv.rows(signal ? { signal } : {})) {
        if (row.ordinal <= begin) continue
        records.push(toRecord(csv, row))
        last = row.ordinal
        const enough = last - begin >= limit
        if (records.length === pageSize || enough) {
          yield { records, watermark: String(last) }
          records = []
        }
        if (enough) return
      }
      if (records.length > 0) yield { records, watermark: String(last) }
    },

    async read(_entity, ids) {
      return new Map(ids.map((id): [string, CurrentRecord] => [id, { state: 'present', values: {} }]))
    },

    async write(_entity, patches) {
      return patches.map(({ id, patch }): WriteResult => ({
        id,
        status: Object.keys(patch).length > 0 ? 'written' : 'unchanged',
      }))
    },

    async associations(_entity, _toEntity, ids) {
      return new Map(ids.map((id): [string, Association[]] => [id, []]))
    },

    async quota() {
      return null
    },

    async close() {},
  }
}

function asColumn(name: string): DescribedField {
  return { name, label: name, type: 'text', writable: true, custom: false }
}

function toRecord(csv: OpenedCsv, row: CsvRow): SourceRecord {
  const record = { id: String(row.line), object: csv.object }
  // The cells of a ragged row may have slipped into other columns: what they say is not trusted.
  if (row.problem !== undefined) return { ...record, identity: {}, unreadable: row.problem }
  return { ...record, identity: csv.identity(row) }
}
