// One file because the order of the rules is part of them: tasks let go of their lookups, and lookups of their names.
import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Tables } from '../database/tables/schema.ts'
import { eraseOldListRows } from '../lists/erase-rows.ts'
import { eraseOldSignals } from '../signals/erase-old-signals.ts'
import { eraseOldActionAnswers } from '../subjects/erase-actions.ts'
import { eraseOldAnswers } from '../subjects/erase-old-answers.ts'
import {
  eraseAuditRows,
  eraseFetchRows,
  eraseIndexRows,
  eraseLookupRows,
  eraseMadeRows,
  eraseMatchRows,
  eraseNoteRows,
  eraseOrderRows,
  erasePlanRows,
  eraseRunRows,
  eraseTaskRows,
  type EraseTools,
} from './erase-records.ts'

type Tx = Transaction<Tables>

/** The settings of retention that decide how long rows are kept. */
const retentionGroups = ['answers', 'signals', 'records', 'messages', 'audit'] as const
export type RetentionGroup = (typeof retentionGroups)[number]

export interface ErasureRule {
  name: string
  table: string
  group: RetentionGroup
  /** The time that its age is counted from, as SQL. */
  age: string
  /** True for a row that is erased: it is old, nothing open needs it, and it was not erased before. */
  due: (before: Date) => RawBuilder<unknown>
  /** Erases up to `limit` rows in the transaction, and returns how many. */
  erase: (tx: Tx, before: Date, limit: number, tools: EraseTools) => Promise<number>
}

interface PagedRule extends Omit<ErasureRule, 'name' | 'erase'> {
  name?: string
  /** A row's name, as SQL. */
  id: string
  /** Absent: the rows are deleted. */
  erase?: (tx: Tx, ids: readonly string[], tools: EraseTools) => Promise<void>
}

/** Locks a page of due rows, leaves out those that others have locked, and erases it. */
function paged({ id, erase, ...rule }: PagedRule): ErasureRule {
  const { table, due } = rule
  return {
    name: table,
    ...rule,
    erase: async (tx, before, limit, tools) => {
      const { rows } = await sql<{ id: string }>`
        select (${sql.raw(id)})::text as id from ${sql.table(table)} where ${due(before)}
        limit ${limit} for update skip locked`.execute(tx)
      const ids = rows.map((row) => row.id)
      if (ids.length === 0) return 0
      if (erase) await erase(tx, ids, tools)
      else await sql`delete from ${sql.table(table)} where (${sql.raw(id)})::text = any(${ids})`.execute(tx)
      return ids.length
    },
  }
}

const openCharges = sql`(select lookup_key from charges where state in ('reserved', 'journaled', 'sent', 'in_doubt'))`
const ended = sql`('written', 'unchanged', 'skipped', 'rejected')`

/** The rules in the order of their work: tasks let go of their lookups, and lookups of their names. */
export const erasureRules: readonly ErasureRule[] = [
  {
    name: 'answers',
    table: 'lookups',
    group: 'answers',
    age: 'case when answer is not null then answered_at end',
    due: (before) => sql`answer is not null and state = 'answered' and answered_at < ${before}
      and not exists (select 1 from tasks where status in ('queued', 'looking_up', 'ready', 'parked')
        and (waiting_for = lookups.key or lookups.key = any(steps)))`,
    erase: eraseOldAnswers,
  },
  {
    name: 'answers of actions',
    table: 'service_actions',
    group: 'answers',
    age: "case when answer is not null and not (jsonb_typeof(answer) = 'object' and answer ? 'erased') then ended_at end",
    due: (before) => sql`state = 'done' and answer is not null and ended_at < ${before}
      and not (jsonb_typeof(answer) = 'object' and answer ? 'erased')`,
    erase: eraseOldActionAnswers,
  },
  {
    name: 'list_rows',
    table: 'list_rows',
    group: 'answers',
    age: '(select started_at from list_fetches where list_fetches.id = list_rows.fetch_id)',
    due: (before) => sql`fetch_id in (select id from list_fetches where started_at < ${before})`,
    erase: eraseOldListRows,
  },
  // The list of the people of a match bears the name of its company. Other lists are named by a person in the settings.
  paged({
    table: 'list_fetches',
    group: 'records',
    id: 'id',
    age: `case when list like 'monitors.%/%' and list not like '%/forgotten:%' then started_at end`,
    due: (before) => sql`list like 'monitors.%/%' and list not like '%/forgotten:%' and started_at < ${before}
      and not exists (select from list_rows where list_rows.fetch_id = list_fetches.id)`,
    erase: eraseFetchRows,
  }),
  {
    name: 'signals',
    table: 'signals',
    group: 'signals',
    age: 'last_seen_at',
    due: (before) => sql`last_seen_at < ${before} and (type = 'news' or ended_at is not null
      or exists (select from signal_checks as checks where checks.account_id = signals.account_id
        and checks.type = signals.type and checks.whole_at > signals.last_seen_at))`,
    erase: eraseOldSignals,
  },
  paged({
    table: 'tasks',
    group: 'records',
    id: 'tasks.id',
    age: 'case when erased_at is null then updated_at end',
    // On-demand presses and merges that are younger, payments and callbacks that are open, and writes under way keep a task.
    due: (before) => sql`erased_at is null and updated_at < ${before} and status in ${ended}
      and exists (select from runs where runs.id = tasks.run_id and erased_at is null and state in ('finished', 'failed')
        and finished_at < ${before})
      and not exists (select from field_writes where field_writes.task_id = tasks.id and field_writes.state = 'intended')
      and not exists (select from workflow_callbacks where workflow_callbacks.task_id = tasks.id and state = 'waiting')
      and not (coalesce(lookup_key, '') in ${openCharges} or steps && array${openCharges})
      and not exists (select from button_tasks join runs on runs.id = tasks.run_id
        where button_tasks.connector = runs.connector and button_tasks.entity = runs.entity
          and button_tasks.record_id = tasks.record_id and asked_at >= ${before})
      and not exists (select from merged_records join runs on runs.id = tasks.run_id
        where merged_records.connector = runs.connector and merged_records.entity = runs.entity
          and tasks.record_id in (merged_records.record_id, into_id) and seen_at >= ${before})`,
    erase: eraseTaskRows,
  }),
  paged({
    table: 'runs',
    group: 'records',
    id: 'id',
    age: 'case when erased_at is null then finished_at end',
    due: (before) => sql`erased_at is null and state in ('finished', 'failed') and finished_at < ${before}
      and not exists (select from tasks where tasks.run_id = runs.id and tasks.erased_at is null)`,
    erase: eraseRunRows,
  }),
  paged({
    table: 'lookups',
    group: 'records',
    id: 'key',
    age: `case when key not like '%|forgotten:%' and state in ('answered', 'failed') then coalesce(answered_at, due_at) end`,
    due: (before) => sql`key not like '%|forgotten:%' and state in ('answered', 'failed')
      and coalesce(answered_at, due_at) < ${before}
      and key not in (select key from (select unnest(steps || lookup_key || waiting_for) as key from tasks
        where erased_at is null) as needed where key is not null)
      and key not in ${openCharges}
      and key not in (select bundle_members.lookup_key from bundle_members join charges on charges.lookup_key = bundle_key
        where state in ('reserved', 'journaled', 'sent', 'in_doubt'))
      and not exists (select from service_actions where service_actions.lookup_key = lookups.key
        and service_actions.state <> 'done')`,
    erase: eraseLookupRows,
  }),
  paged({
    table: 'subject_names',
    group: 'records',
    id: 'name',
    age: 'learned_at',
    // A name goes when none of its subject's names is in the key of a lookup that is kept: by it that one is not bought again.
    due: (before) => sql`learned_at < ${before} and coalesce(subject, name) not in (
      select coalesce(kept.subject, kept.name) from subject_names as kept join (
        select distinct regexp_replace(substr(key, strpos(key, '|') + 1), '\\|[a-z_]+$', '') as name from lookups
        where key not like '%|forgotten:%') as needed on needed.name in (kept.name, kept.subject))`,
  }),
  paged({
    table: 'refusals',
    group: 'records',
    id: 'id',
    age: 'refused_at',
    due: (before) => sql`refused_at < ${before}`,
  }),
  paged({
    table: 'plans',
    group: 'records',
    id: 'id',
    age: `case when document <> '{}' then made_at end`,
    due: (before) => sql`document <> '{}' and made_at < ${before} and (run_id is null
      or exists (select from runs where runs.id = plans.run_id and state in ('finished', 'failed') and finished_at < ${before}))`,
    erase: erasePlanRows,
  }),
  paged({
    table: 'created_records',
    group: 'records',
    id: 'id',
    age: `case when identities <> '[]' and state <> 'archived' then ended_at end`,
    // A record that was made and taken back stays: by its identities it is not made again.
    due: (before) => sql`ended_at < ${before} and state in ('created', 'exists', 'rejected', 'left')
      and key not like 'forgotten-%' and (archive_sent_at is null or archived_at is not null)
      and exists (select from runs where runs.id = created_records.run_id and state in ('finished', 'failed'))`,
    erase: eraseMadeRows,
  }),
  paged({
    table: 'crm_notes',
    group: 'records',
    id: 'id',
    age: `case when record_id not like 'forgotten%' then coalesce(undone_at, done_at) end`,
    due: (before) => sql`record_id not like 'forgotten%' and state in ('done', 'left', 'undone')
      and coalesce(undone_at, done_at, created_at) < ${before}`,
    erase: eraseNoteRows,
  }),
  paged({
    table: 'matches',
    group: 'records',
    id: 'id',
    age: `case when identities <> '[]' then done_at end`,
    due: (before) => sql`state = 'done' and done_at < ${before} and (reason is distinct from 'forgotten')`,
    erase: eraseMatchRows,
  }),
  paged({
    table: 'champions',
    group: 'records',
    id: "watch || ' ' || connector || ' ' || entity || ' ' || record_id",
    age: 'checked_at',
    due: (before) => sql`checked_at < ${before}`,
  }),
  paged({
    table: 'list_reviews',
    group: 'records',
    id: 'id',
    age: 'decided_at',
    due: (before) => sql`decided_at < ${before}`,
  }),
  paged({
    table: 'list_references',
    group: 'records',
    id: "list || ' ' || ordinal",
    age: 'read_at',
    due: (before) => sql`read_at < ${before}`,
  }),
  paged({
    table: 'list_exclusions',
    group: 'records',
    id: "reading || ' ' || object || ' ' || kind || ' ' || value",
    age: 'read_at',
    due: (before) => sql`read_at < ${before}`,
  }),
  paged({
    table: 'record_identities',
    group: 'records',
    id: "connector || ' ' || entity || ' ' || record_id || ' ' || kind || ' ' || value",
    age: 'seen_at',
    // Those of an index that is kept up to date stay as long as the CRM has the record: by them it is not made a second time.
    due: (before) => sql`seen_at < ${before} and not exists (select from record_indexes as known
      where known.connector = record_identities.connector and known.entity = record_identities.entity)`,
  }),
  paged({
    table: 'record_indexes',
    group: 'records',
    id: "connector || ' ' || entity",
    age: 'greatest(started_at, completed_at, current_at)',
    due: (before) => sql`greatest(started_at, completed_at, current_at) < ${before}`,
    erase: eraseIndexRows,
  }),
  paged({
    table: 'button_tasks',
    group: 'records',
    id: "connector || ' ' || entity || ' ' || record_id || ' ' || recipe",
    age: 'asked_at',
    due: (before) => sql`asked_at < ${before}
      and not exists (select from runs where runs.id = run_id and state not in ('finished', 'failed'))`,
  }),
  paged({
    table: 'merged_records',
    group: 'records',
    id: "connector || ' ' || entity || ' ' || record_id",
    age: 'seen_at',
    due: (
      before,
    ) => sql`seen_at < ${before} and not exists (select from tasks join runs on runs.id = tasks.run_id
      where tasks.erased_at is null and tasks.record_id in (merged_records.record_id, into_id)
        and runs.connector = merged_records.connector and runs.entity = merged_records.entity)`,
  }),
  paged({
    name: 'orders of actions',
    table: 'service_actions',
    group: 'records',
    id: 'id',
    age: `case when body <> '{}' then ended_at end`,
    due: (before) => sql`state = 'done' and body <> '{}' and ended_at < ${before}`,
    erase: eraseOrderRows,
  }),
  paged({
    table: 'alerts',
    group: 'messages',
    id: 'id',
    age: 'ended_at',
    due: (before) => sql`ended_at < ${before} and not exists (
      select from alert_deliveries where alert_id = alerts.id and delivered_at is null and due_at >= ${before})`,
  }),
  paged({
    table: 'workflow_callbacks',
    group: 'messages',
    id: 'callback_id',
    age: 'asked_at',
    due: (before) => sql`state <> 'waiting' and coalesce(completed_at, asked_at) < ${before}`,
  }),
  paged({
    table: 'call_refusals',
    group: 'messages',
    id: "reason || ' ' || day",
    age: 'day::timestamptz',
    due: (before) => sql`day::timestamptz < ${before}`,
  }),
  paged({
    table: 'schedule_turns',
    group: 'messages',
    id: 'id',
    age: 'changed_at',
    due: (
      before,
    ) => sql`changed_at < ${before} and planned_at < ${before} and (state in ('stopped', 'missed', 'failed')
      or (state = 'handed_over' and exists (select from runs where runs.id = run_id and runs.state in ('finished', 'failed'))))`,
  }),
  paged({
    table: 'former_monitors',
    group: 'messages',
    id: 'monitor_id',
    age: 'ended_at',
    due: (before) => sql`ended_at < ${before}`,
  }),
  paged({
    table: 'monitor_headers',
    group: 'messages',
    id: 'name',
    age: 'last_seen_at',
    due: (before) => sql`last_seen_at < ${before}`,
  }),
  paged({
    table: 'audit',
    group: 'audit',
    id: 'id',
    age: `case when actor <> 'erased' then at end`,
    due: (before) => sql`at < ${before} and actor <> 'erased'`,
    erase: eraseAuditRows,
  }),
]
