import { boughtFieldNames } from '../../domain/fields.ts'
import type { DescribedField } from '../../domain/mapping/mapping.ts'
import type { SourceRecord } from '../../domain/record.ts'
import { gated } from '../gate.ts'
import type { Association, Connector, CurrentRecord, WriteResult } from '../connector.ts'
import { capabilities } from './capabilities.ts'
import type { OpenedCsv } from './read-csv.ts'
import type { CsvRow } from './read-rows.ts'

const pageSize = 500

/**
 * A CSV file as a source of records. Scanning streams it; a record's id is the line on which its row starts, and the
 * n-th record of a full scan is the row with ordinal n. The watermark is the ordinal of the last row returned, in
 * decimal.
 *
 * Nothing is written into the file itself: `read` finds every field blank and `write` accepts every patch. The values
 * are in the ledger, and are written into the output when the run is exported (`writeEnriched`).
 */
export function createCsvConnector({ csv }: { csv: OpenedCsv }): Connector {
  return gated({
    name: 'csv',
    capabilities,
    entities: { [csv.object]: csv.object },
    // No request is saved, but steps of the ledger: five small groups a second cost it a tenth of all its work.
    recordsPerWrite: 1,
    mostGatherMs: 1_000,

    // The file was opened and its header read before the connector was created: nothing can be missing.
    async check() {
      return { account: null, apiVersion: 'csv', missingScopes: [], problems: [] }
    },

    /** Returns the columns that the output can have: every canonical field, as text. */
    async describe() {
      return boughtFieldNames(csv.object).map(asColumn)
    },

    /** Output columns are created when the file is written. */
    async ensureFields() {
      return []
    },

    // A file does not say when a row changed, and only its identifying columns are known, so `since` and `filter` do
    // not apply.
    async *scan(_entity, { after, limit = Infinity, signal }) {
      const begin = after === undefined ? 0 : Number(after)
      let records: SourceRecord[] = []
      let last = begin
      if (limit <= 0) return
      for await (const row of csv.rows({ signal })) {
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
  })
}

function asColumn(name: string): DescribedField {
  return { name, label: name, type: 'text', writable: true, custom: false }
}

function toRecord(csv: OpenedCsv, row: CsvRow): SourceRecord {
  const record = { id: String(row.line), object: csv.object }
  // The cells of a ragged row may be in the wrong columns, so their values are not trusted.
  // Without its line, which is the record's id: rows of one cause are counted together.
  if (row.problem !== undefined)
    return { ...record, identity: {}, unreadable: row.problem.replace(/^line \d+: /, '') }
  return { ...record, identity: csv.identity(row), values: csv.values(row) }
}
