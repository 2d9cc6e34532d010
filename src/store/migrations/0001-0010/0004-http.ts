/** Callers, refused calls, on-demand requests, and messages of CRMs and monitors. */
export const http = `
create table api_tokens (
  id text primary key,
  name text not null,
  -- SHA-256 of the token: it is shown once, and cannot be read from here.
  digest text not null unique,
  scopes text[] not null,
  per_minute int not null check (per_minute > 0),
  -- Null: no cap of its own.
  day_cap_atomic bigint check (day_cap_atomic > 0),
  created_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create table api_token_calls (
  token_id text not null references api_tokens (id),
  minute timestamptz not null,
  calls int not null,
  primary key (token_id, minute)
);

-- Digests of values that may be used once: a signature, a nonce, the id of a signed token.
create table replays (digest text primary key, expires_at timestamptz not null);
create index replays_expired on replays (expires_at);

create table call_refusals (
  reason text not null,
  day date not null,
  count bigint not null,
  primary key (reason, day)
);

-- The last task of each record that was requested on demand. A request within a minute returns the same task.
create table button_tasks (
  connector text not null,
  entity text not null,
  record_id text not null,
  recipe text not null,
  asked_at timestamptz not null,
  run_id text not null references runs (id),
  -- Null only inside the transaction that claims the row.
  task_id bigint references tasks (id),
  primary key (connector, entity, record_id, recipe)
);
create index button_tasks_run on button_tasks (run_id);

-- HubSpot workflow executions that wait for us.
create table workflow_callbacks (
  callback_id text primary key,
  task_id bigint not null references tasks (id),
  state text not null check (state in ('waiting', 'completed', 'given_up')),
  tries int not null default 0,
  due_at timestamptz not null,
  reason text,
  asked_at timestamptz not null,
  completed_at timestamptz
);
create index workflow_callbacks_due on workflow_callbacks (due_at) where state = 'waiting';

-- The deliveries of monitors. The body is deleted once it has become tasks.
create table monitor_deliveries (
  digest text primary key,
  body text,
  received_at timestamptz not null,
  due_at timestamptz not null,
  tries int not null default 0,
  done_at timestamptz,
  records int,
  unknown int,
  reason text
);
create index monitor_deliveries_due on monitor_deliveries (due_at) where done_at is null;

create index tasks_lookup on tasks (lookup_key) where lookup_key is not null;
`
