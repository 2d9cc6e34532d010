import type { Migration } from './migration.ts'

/**
 * The fields that a task is about to write wait in its row, and become rows of `field_writes` when their outcome is known
 * (docs/decisions/0058). A program of before stores and confirms intents as rows, which this one confirms too.
 */
export const openIntentsMigration: Migration = {
  name: '0046-open-intents',
  statements: `
-- A list of fields with their values before and after, each as in src/store/writes/open-intents.ts; null: nothing is being written.
alter table tasks add column open_intents jsonb;
-- A write has the run of its task, which has a run that exists. To look for it once more with each field took a fifth of the insert.
alter table field_writes drop constraint field_writes_run_id_fkey;
-- A write that is replaced names its successor before that one is there.
alter table field_writes alter constraint field_writes_superseded_by_fkey deferrable initially deferred;
`,
}
