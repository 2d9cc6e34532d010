/**
 * The facts about the service's interface that answers have shown: operations that are confirmed or stopped, fields and words
 * of answers, limits, prices, renamed keys; and the journal of actions. No table but that of actions holds a value of an answer.
 *
 * An existing ledger has bought from operations whose path is not documented: an answer that was read confirms them. A process of an
 * older version neither reads nor fills these tables, and buys as before.
 */
export const contract = `
set local lock_timeout = '10s';
create table operation_states (
  operation text not null,
  -- Empty, 'batch', or 'answer': the request for the answer of a started batch.
  part text not null,
  -- Method and address at the time; a state of another address says nothing. Null: from answers older than this table.
  place text,
  state text not null check (state in ('confirmed', 'stopped')),
  code text,
  reason text,
  since timestamptz not null,
  -- The first answer that was read as expected. It stays when the operation is stopped later.
  confirmed_at timestamptz,
  primary key (operation, part)
);
insert into operation_states (operation, part, state, since, confirmed_at)
select operation, part, 'confirmed', min(answered_at), min(answered_at) from (
  select operation, '' as part, answered_at from lookups
  where outcome in ('found', 'not_found') and answered_at is not null and key not like 'bundle|%'
    and not exists (select from bundle_members where lookup_key = lookups.key)
  union all
  select batch.operation, part, batch.answered_at from lookups as batch
  cross join (values ('batch'), ('answer')) as parts (part)
  where batch.key like 'bundle|%' and batch.answered_at is not null and (part = 'batch' or batch.query_id is not null)
    and exists (select from bundle_members join lookups as member on member.key = lookup_key
      where bundle_members.bundle_key = batch.key and member.outcome in ('found', 'not_found'))
) as answered group by operation, part;
set local statement_timeout = '10s';
create table operation_probes (
  operation text not null,
  part text not null,
  -- The lookup whose request is the only one under way. Its name changes when its subject is forgotten.
  lookup_key text not null references lookups (key) on update cascade on delete cascade,
  until timestamptz not null,
  primary key (operation, part)
);
create index operation_probes_lookup on operation_probes (lookup_key);
create table answer_fields (
  operation text not null,
  -- Names joined by dots, with [] for the entries of a list: data.jobs[].functions.
  path text not null,
  type text not null check (type in ('string', 'number', 'boolean', 'null', 'array', 'object')),
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  answers bigint not null,
  primary key (operation, path, type)
);
create table learned_words (
  vocabulary text not null,
  word text not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  primary key (vocabulary, word)
);
create table known_limits (
  operation text not null,
  name text not null check (name in ('page', 'per_page')),
  -- The greatest value that may be sent.
  value bigint not null,
  code text,
  seen_at timestamptz not null,
  primary key (operation, name)
);
create table seen_prices (
  -- As an endpoint is named in charges: method, address, and the words that determine the price.
  price_class text not null,
  protocol text not null,
  currency text not null check (currency in ('USD', 'credit')),
  amount_atomic bigint not null check (amount_atomic >= 0),
  seen_at timestamptz not null,
  primary key (price_class, protocol, currency)
);
create table accepted_renames (
  operation text not null,
  field text not null,
  wire_name text not null,
  accepted_at timestamptz not null,
  primary key (operation, field)
);
create table service_actions (
  id bigint generated always as identity primary key,
  operation text not null,
  -- Of method, path and canonical body.
  digest text not null,
  -- Counts the intended repeats of one action.
  place bigint not null,
  method text not null,
  path text not null,
  body jsonb not null,
  state text not null check (state in ('intent', 'sent', 'done', 'in_doubt')),
  lookup_key text references lookups (key) on update cascade,
  answer jsonb,
  problem text,
  created_at timestamptz not null,
  sent_at timestamptz,
  ended_at timestamptz,
  unique (operation, digest, place)
);
create index service_actions_open on service_actions (created_at) where state in ('intent', 'sent', 'in_doubt');
create index service_actions_lookup on service_actions (lookup_key) where lookup_key is not null;
`
