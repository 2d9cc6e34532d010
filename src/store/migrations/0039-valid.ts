import type { Migration } from './migration.ts'

/** Kinds of plans and tasks were checked for new rows alone. The rows of before are checked now, beside reads and writes. */
export const valid: Migration = {
  name: '0039-valid',
  statements: '',
  validates: [
    { table: 'plans', constraint: 'plans_kind_check' },
    { table: 'tasks', constraint: 'tasks_kind_check' },
  ],
}
