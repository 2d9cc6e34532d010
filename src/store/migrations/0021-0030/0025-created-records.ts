/**
 * The records that lists make, one row a draft, and the identities that are reserved for them. A plan may be that of a list. An older
 * process refuses to carry such a plan out, because it was not made by rules of its own.
 */
export const createdRecords = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table created_records (
  id bigint generated always as identity primary key,
  run_id text not null references runs (id),
  list text not null,
  connector text collate "C" not null,
  entity text collate "C" not null,
  -- The place of the draft in its plan, as tasks have it.
  -- squawk-ignore prefer-bigint-over-int
  ordinal integer not null,
  -- Our own key in the record; random once its subject was forgotten.
  key text collate "C" not null,
  identity jsonb not null,
  identities jsonb not null,
  -- The page of the list on which it stands, and the lookup that bought it.
  -- squawk-ignore prefer-bigint-over-int
  page integer,
  lookup_key text,
  state text not null check (state in ('intent', 'sent', 'created', 'exists', 'rejected', 'left', 'archived')),
  record_id text,
  -- What the record held after it was made. Null: nobody knows.
  snapshot jsonb,
  reason text,
  intended_at timestamptz not null,
  sent_at timestamptz,
  ended_at timestamptz,
  archive_sent_at timestamptz,
  archived_at timestamptz,
  unique (run_id, ordinal),
  unique (run_id, key)
);
create index created_records_record on created_records (connector, entity, record_id);
create table reserved_identities (
  connector text collate "C" not null,
  entity text collate "C" not null,
  kind text collate "C" not null,
  value text collate "C" not null,
  created_id bigint not null references created_records (id) on delete cascade,
  -- Two drafts never hold the same identity: the second waits for the first.
  primary key (connector, entity, kind, value)
);
create index reserved_identities_created on reserved_identities (created_id);
alter table plans drop constraint plans_kind_check;
alter table plans add constraint plans_kind_check check (kind in ('csv', 'sync', 'list')) not valid;
`
