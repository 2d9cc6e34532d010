import type { Migration } from './migration.ts'

/**
 * A written field does not look for its task once more, which was a fifth of the insert. Its row is made from the task's own, which is
 * locked in the same transaction, and only the tasks of a run that is planned, and has written nothing, are ever deleted
 * (docs/decisions/0058).
 */
export const lighterWrites: Migration = {
  name: '0048-lighter-writes',
  statements: `
-- In the order of whoever stores writes. The key's end takes both, the writes first, and would stand in a ring with them.
lock table tasks, field_writes in access exclusive mode;
alter table field_writes drop constraint field_writes_task_id_fkey;
`,
}
