/**
 * Indexes for the queries that run every few seconds and match few of many rows: the lookups that a CSV left behind, parked
 * lookups by cause, and the tasks that moved last.
 */
export const rounds = `
create index lookups_of_csv on lookups (run_id)
  where connector = 'csv' and bundle_key is null and state in ('waiting', 'parked');
create index lookups_parked on lookups (code) where state = 'parked';
create index tasks_moving on tasks (updated_at) where status in ('looking_up', 'ready');
create index tasks_ended on tasks (updated_at) where status in ('written', 'unchanged', 'skipped', 'rejected');
`
