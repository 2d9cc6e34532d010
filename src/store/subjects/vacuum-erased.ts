import { sql } from 'kysely'
import type { OpenDatabase } from '../database/database.ts'

/**
 * Rewrites the tables that hold personal data, so that the embedded database keeps no old version of an erased row in its
 * files. Does nothing on a server, which vacuums by itself.
 */
export async function vacuumErased({ db, kind }: Pick<OpenDatabase, 'db' | 'kind'>): Promise<void> {
  if (kind !== 'pglite') return
  for (const table of [
    'lookups',
    'tasks',
    'charges',
    'field_writes',
    'plan_records',
    'subject_names',
    'task_words',
    'button_tasks',
    'merged_records',
    'record_identities',
    'created_records',
    'crm_notes',
    'list_references',
    'list_reviews',
    'list_review_names',
    'list_rows',
    'list_row_identities',
    'service_actions',
    'list_exclusions',
  ])
    await sql`vacuum full ${sql.table(table)}`.execute(db)
}
