/**
 * Accounts that are watched, what was observed of each, when each type was last asked for, and a score a day. All of it comes out of
 * lookups in the ledger: a process of an older version neither reads nor fills it.
 */
export const signals = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table signal_accounts (
  id bigint generated always as identity primary key,
  -- A record of a CRM; of a list the connector is 'list', the entity its name, and the record the key of its row.
  connector text collate "C" not null,
  entity text collate "C" not null,
  record_id text collate "C" not null,
  name text,
  identity jsonb not null,
  -- The id of the company at the service, once an answer has told it. Null: no answer was matched to the account.
  service_id text collate "C",
  -- Observed last. Null: never observed, which is not the same as none.
  stage text,
  direction text,
  markets jsonb,
  seen_at timestamptz not null,
  unique (connector, entity, record_id)
);
create table signals (
  id bigint generated always as identity primary key,
  account_id bigint not null references signal_accounts (id) on delete cascade,
  type text collate "C" not null check (type in ('job', 'news', 'advertisement', 'cloud', 'expansion')),
  -- The service's id, or a digest of the parts that stay the same.
  key text collate "C" not null,
  title text,
  link text,
  place text,
  strength text,
  -- The words that rules match: functions, category, provider, markets and so on.
  about jsonb not null default '{}',
  -- When it happened. Null: not told, and first_seen_at is the day on which it was seen first.
  happened_at timestamptz,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- When it ended: told, or found to be gone.
  ended_at timestamptz,
  lookup_key text collate "C" not null,
  price_atomic bigint,
  unique (account_id, type, key)
);
create index signals_first_seen on signals (first_seen_at);
create table signal_checks (
  pipeline text collate "C" not null,
  account_id bigint not null references signal_accounts (id) on delete cascade,
  type text collate "C" not null,
  checked_at timestamptz not null,
  -- The last one that asked for everything in reach.
  whole_at timestamptz not null,
  -- Whether the service knew the company: of one that it does not know nothing is written.
  is_matched boolean not null,
  reason text,
  lookup_key text collate "C" not null,
  price_atomic bigint,
  primary key (pipeline, account_id, type)
);
create table signal_scores (
  pipeline text collate "C" not null,
  account_id bigint not null references signal_accounts (id) on delete cascade,
  day date not null,
  -- In hundredths of a point.
  score bigint not null,
  stage text,
  primary key (pipeline, account_id, day)
);
create index signal_checks_account on signal_checks (account_id);
create index signal_scores_account on signal_scores (account_id);
`
