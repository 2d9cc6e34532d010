/** The writes with their old values, plans, and suppressed people. */
export const provenance = `
-- Forgetting a subject renames its lookups, and references to a lookup follow.
alter table charges drop constraint charges_lookup_key_fkey;
alter table charges add constraint charges_lookup_key_fkey
  foreign key (lookup_key) references lookups (key) on update cascade;
alter table tasks drop constraint tasks_waiting_for_fkey;
alter table tasks add constraint tasks_waiting_for_fkey
  foreign key (waiting_for) references lookups (key) on update cascade;

-- The fields of the patch that replaced a value; the others were blank.
alter table tasks add column replaced text[] not null default '{}';

create table field_writes (
  id bigint generated always as identity primary key,
  task_id bigint not null references tasks (id),
  run_id text not null references runs (id),
  connector text not null,
  entity text not null,
  record_id text not null,
  field text not null,
  -- The value before our first attempt; null: blank.
  old_value jsonb,
  -- The value since then, as the record shows it; null once the subject was forgotten.
  new_value jsonb,
  lookup_key text,
  -- This field's share of the cost of its lookup.
  price_atomic bigint not null default 0 check (price_atomic >= 0),
  currency text check (currency in ('USD', 'credit')),
  -- intended: stored before the write, which is not confirmed yet.
  state text not null check (state in ('intended', 'written', 'undone', 'superseded')),
  superseded_by bigint references field_writes (id),
  intended_at timestamptz not null,
  written_at timestamptz,
  undone_at timestamptz,
  unique (task_id, field)
);
-- At most one value of each field of a record counts as ours.
create unique index field_writes_ours on field_writes (connector, entity, record_id, field) where state = 'written';
create index field_writes_record on field_writes (connector, entity, record_id);
create index field_writes_run on field_writes (run_id, record_id);
create index field_writes_lookup on field_writes (lookup_key);
create index field_writes_superseded on field_writes (superseded_by) where superseded_by is not null;

create table suppressions (
  kind text not null check (kind in ('email', 'phone', 'profile_url', 'domain')),
  -- An HMAC of the canonical value, never the value itself.
  digest text not null,
  added_at timestamptz not null,
  primary key (kind, digest)
);

create table plans (
  id text primary key,
  kind text not null check (kind in ('csv', 'sync')),
  connector text not null,
  object text not null,
  entity text not null,
  recipe text not null,
  -- The request: the file and its digest, or the conditions of the scan and where it began.
  job jsonb not null,
  -- The plan as it was printed, without values.
  document jsonb not null,
  to_buy int not null,
  price_atomic bigint not null,
  high_atomic bigint not null,
  run_id text references runs (id),
  made_at timestamptz not null
);
create table plan_records (
  plan_id text not null references plans (id) on delete cascade,
  ordinal int not null,
  record_id text not null,
  -- A digest of everything by which the record is looked up. When it differs, the record has changed.
  digest text not null,
  lookup_key text,
  -- The changes field by field, where the ledger already has the facts.
  preview jsonb,
  primary key (plan_id, ordinal)
);
create index plan_records_record on plan_records (plan_id, record_id);
create index plan_records_lookup on plan_records (lookup_key);

create index tasks_record on tasks (record_id);
create index lookups_answered on lookups (answered_at) where answer is not null;
`
