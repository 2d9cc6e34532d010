import { pagedFiles } from '../pages/compress-pages.ts'
import type { Migration } from './migration.ts'

/**
 * From here on programs read ledgers whose files are kept in pages (docs/decisions/0056). They are kept so where no older program can
 * be: in an embedded ledger that is new. The schema stays as it is.
 */
export const pagedFilesMigration: Migration = {
  name: pagedFiles,
  statements: '',
  oldestProgramOfNew: '0045',
}
