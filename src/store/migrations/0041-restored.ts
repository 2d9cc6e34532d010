import type { Migration } from './migration.ts'

/**
 * Payments that the ledger knows from the chain alone, because it was restored from a backup of before. An older version takes
 * them for lost ones, which they are.
 */
export const restored: Migration = {
  name: '0041-restored',
  statements: `
-- When it was booked from the chain. Null: it was paid by this ledger.
alter table charges add column restored_at timestamptz;
`,
  indexes: [{ name: 'charges_restored', on: 'charges (restored_at) where restored_at is not null' }],
}
