import type { Migration } from './migration.ts'

/**
 * One index finds the tasks of a lookup, of one run and of all. There were two, each as large as the tasks' own keys, and a
 * task's change of state is a new entry in every index.
 */
export const tasksByLookup: Migration = {
  name: '0042-tasks-by-lookup',
  statements: '',
  indexes: [{ name: 'tasks_by_lookup', on: 'tasks (lookup_key, run_id) where lookup_key is not null' }],
  drops: ['tasks_key', 'tasks_lookup'],
}
