/**
 * What is asked again and again while a night's records wait, of few among many: the lookups that a CSV left behind, what is
 * parked and for which cause, what moved last.
 */
export const rounds = `
create index lookups_of_csv on lookups (run_id)
  where connector = 'csv' and bundle_key is null and state in ('waiting', 'parked');
create index lookups_parked on lookups (code) where state = 'parked';
create index tasks_moving on tasks (updated_at) where status in ('looking_up', 'ready');
create index tasks_ended on tasks (updated_at) where status in ('written', 'unchanged', 'skipped', 'rejected');
`
