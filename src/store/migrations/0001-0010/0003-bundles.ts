/** Batches of lookups, the cost of an answer as the service states it, and the service's warnings about our requests. */
export const bundles = `
-- The batch in which a lookup is out. While it is set, the lookup is not bought by itself.
alter table lookups add column bundle_key text references lookups (key) on update cascade;
-- Its batch has failed, so the lookup goes alone from now on.
alter table lookups add column alone boolean not null default false;
-- The id under which the answer of a started and paid request is polled.
alter table lookups add column query_id text;
create index lookups_bundle on lookups (bundle_key) where bundle_key is not null;

create table bundle_members (
  bundle_key text not null references lookups (key) on update cascade,
  lookup_key text not null references lookups (key) on update cascade,
  -- The index of the body's entry for it. Two lookups with the same input share an entry.
  place int not null,
  -- The charge that paid for it, and its share of the amount. The shares of a charge add up to its amount.
  charge_id text references charges (id),
  amount_atomic bigint not null default 0,
  primary key (bundle_key, lookup_key)
);
create index bundle_members_lookup on bundle_members (lookup_key);
create index bundle_members_charge on bundle_members (charge_id);

-- The cost that the service states for the answer, in millionths of a credit; null when it states none.
alter table charges add column credits_atomic bigint;

-- Each charge, split by the lookups that it paid for.
create view charge_shares as
  select id, lookup_key, run_id, connector, operation, currency, state, amount_atomic, credits_atomic
  from charges where not exists (select 1 from bundle_members where charge_id = charges.id)
  union all
  select charges.id, bundle_members.lookup_key, run_id, connector, operation, currency, state, bundle_members.amount_atomic, null
  from bundle_members join charges on charges.id = bundle_members.charge_id;

-- Keys of our requests that the service ignored or renamed. Each is reported once.
create table service_warnings (
  endpoint text not null,
  kind text not null check (kind in ('ignored', 'renamed')),
  field text not null,
  renamed_to text,
  first_seen_at timestamptz not null,
  primary key (endpoint, kind, field)
);

-- Which of employer and title differ from the record's. Never a value.
alter table tasks add column job_change text[] not null default '{}';
`
