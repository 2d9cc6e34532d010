/** Runs, tasks, lookups, charges, budgets: the ledger. Amounts are USDC's smallest unit. */
export const ledger = `
create table meta (key text primary key, value text not null);

create table runs (
  id text primary key,
  connector text not null,
  object text not null,
  -- The connector's own name of the object: companies, Lead; for a CSV the same as the object.
  entity text not null,
  recipe text not null,
  trigger text not null,
  state text not null check (state in ('planned', 'scanning', 'working', 'stopped', 'parked', 'finished', 'failed')),
  -- The same input and options have the same fingerprint, so that an unfinished run is resumed instead of begun again.
  fingerprint text not null,
  source jsonb not null,
  -- How far the scan has come; stored together with the tasks of all pages before it.
  watermark text,
  scanned_at timestamptz,
  records int not null default 0,
  requests_unpaid int not null default 0,
  requests_limited int not null default 0,
  started_at timestamptz not null,
  finished_at timestamptz
);
create unique index runs_unfinished on runs (fingerprint) where state in ('scanning', 'working', 'stopped', 'parked');

create table lookups (
  key text primary key,
  operation text not null,
  request jsonb not null,
  state text not null check (state in ('waiting', 'parked', 'answered', 'failed')),
  run_id text not null references runs (id),
  connector text not null,
  hot boolean not null default false,
  due_at timestamptz not null,
  -- Until then the lookup has a job in the queue; afterwards the enqueuer may add another.
  queued_until timestamptz,
  tries int not null default 0,
  reason text,
  -- The error code that parked it (domain/errors.ts), by which it is unparked when the cause is gone.
  code text,
  outcome text check (outcome in ('found', 'not_found', 'unreadable', 'failed')),
  answer jsonb,
  answered_at timestamptz,
  fresh_until timestamptz
);
create index lookups_due on lookups (hot desc, due_at) where state in ('waiting', 'parked');

create table tasks (
  id bigint generated always as identity primary key,
  run_id text not null references runs (id),
  ordinal int not null,
  record_id text not null,
  identity jsonb not null,
  status text not null check (status in
    ('queued', 'looking_up', 'ready', 'written', 'unchanged', 'skipped', 'rejected', 'parked')),
  -- The lookup under which the record is bought; the same for all spellings of a company or person.
  lookup_key text,
  duplicate_of int,
  waiting_for text references lookups (key),
  steps text[] not null default '{}',
  patch jsonb,
  reason text,
  updated_at timestamptz not null,
  unique (run_id, ordinal),
  check ((status in ('looking_up', 'parked')) = (waiting_for is not null))
);
create index tasks_waiting on tasks (waiting_for) where waiting_for is not null;
create index tasks_key on tasks (run_id, lookup_key);
create index tasks_open on tasks (run_id, status) where status in ('queued', 'looking_up', 'ready', 'parked');

create table charges (
  id text primary key,
  lookup_key text not null references lookups (key),
  attempt int not null,
  run_id text not null references runs (id),
  connector text not null,
  operation text not null,
  endpoint text not null,
  url text not null,
  body text not null,
  protocol text not null,
  -- USD in millionths (USDC's smallest unit), or credits in millionths on the direct interface.
  currency text not null check (currency in ('USD', 'credit')),
  amount_atomic bigint not null check (amount_atomic >= 0),
  -- json, not jsonb: the order of its keys is part of the bytes that are sent again after a crash.
  authorization_json json not null,
  nonce text not null unique,
  budget_scopes text[] not null,
  state text not null check (state in
    ('journaled', 'sent', 'in_doubt', 'settled', 'declined', 'expired', 'lost')),
  sends int not null default 0,
  reason text,
  transaction text,
  created_at timestamptz not null,
  sent_at timestamptz,
  touched_at timestamptz not null,
  closed_at timestamptz,
  unique (lookup_key, attempt)
);
-- A lookup never has two live authorizations: the database refuses the second.
create unique index charges_open on charges (lookup_key) where state in ('journaled', 'sent', 'in_doubt');
create index charges_untouched on charges (touched_at) where state in ('journaled', 'sent', 'in_doubt');
create index charges_run on charges (run_id);

create table budgets (
  scope text primary key,
  committed_atomic bigint not null check (committed_atomic >= 0)
);

create table switches (
  name text primary key,
  is_on boolean not null,
  reason text,
  changed_at timestamptz not null
);

-- Where the next incremental scan of a source begins.
create table watermarks (
  connector text not null,
  entity text not null,
  filter text not null,
  watermark text not null,
  run_id text not null references runs (id),
  moved_at timestamptz not null,
  primary key (connector, entity, filter)
);

create table terms (endpoint text primary key, terms json not null, seen_at timestamptz not null);
create table recipients (
  host text not null,
  protocol text not null,
  pay_to text not null,
  first_seen_at timestamptz not null,
  primary key (host, protocol)
);
create table refusals (
  id bigint generated always as identity primary key,
  lookup_key text not null,
  run_id text not null,
  endpoint text not null,
  rule text not null,
  message text not null,
  refused_at timestamptz not null
);
`
