import { packedRows } from '../packed/ledger-adapter.ts'
import type { Migration } from './migration.ts'

/**
 * From here on programs read rows whose answers, patches and authorizations are packed (docs/decisions/0054). Rows are written so
 * where no older program can be: in an embedded ledger that is new, which only one process can open and none has opened
 * before. Every other ledger keeps the form that the version before reads; the next version may pack there too, with
 * `oldestProgram`.
 */
export const packedRowsMigration: Migration = {
  name: packedRows,
  statements: '',
  oldestProgramOfNew: '0043',
}
