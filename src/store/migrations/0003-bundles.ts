/** Many lookups in one request, what the service itself says that an answer cost, and what it says of our requests. */
export const bundles = `
-- The request in which a lookup is out together with others. While it is set the lookup is not bought by itself.
alter table lookups add column bundle_key text references lookups (key) on update cascade;
-- A request with others has failed: this one goes alone from now on.
alter table lookups add column alone boolean not null default false;
-- Of a request that was started and paid for: under what its answer is asked for.
alter table lookups add column query_id text;
create index lookups_bundle on lookups (bundle_key) where bundle_key is not null;

create table bundle_members (
  bundle_key text not null references lookups (key) on update cascade,
  lookup_key text not null references lookups (key) on update cascade,
  -- The entry of the body that asks for it. Two lookups of the same input share one.
  place int not null,
  -- The charge that paid for it, and its part of the amount: the parts of a charge add up to it.
  charge_id text references charges (id),
  amount_atomic bigint not null default 0,
  primary key (bundle_key, lookup_key)
);
create index bundle_members_lookup on bundle_members (lookup_key);
create index bundle_members_charge on bundle_members (charge_id);

-- What the service says that the answer cost, in millionths of a credit; null where it does not say.
alter table charges add column credits_atomic bigint;

-- Each charge under the lookups that it paid for.
create view charge_shares as
  select id, lookup_key, run_id, connector, operation, currency, state, amount_atomic, credits_atomic
  from charges where not exists (select 1 from bundle_members where charge_id = charges.id)
  union all
  select charges.id, bundle_members.lookup_key, run_id, connector, operation, currency, state, bundle_members.amount_atomic, null
  from bundle_members join charges on charges.id = bundle_members.charge_id;

-- Keys of our requests that the service ignored or renamed. Said once.
create table service_warnings (
  endpoint text not null,
  kind text not null check (kind in ('ignored', 'renamed')),
  field text not null,
  renamed_to text,
  first_seen_at timestamptz not null,
  primary key (endpoint, kind, field)
);

-- The employer or the title that was found differs from the record's: which of them. Never a value.
alter table tasks add column job_change text[] not null default '{}';
`
