/**
 * The fetches of lists, and the rows that they have brought, so that a list of any length is read in batches. They are copies of pages
 * in the ledger: a process of an older version neither reads nor fills them.
 */
export const listRows = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table list_fetches (
  id bigint generated always as identity primary key,
  list text collate "C" not null,
  -- A digest of all that decides which rows the list has.
  rules text collate "C" not null,
  -- Its pages are bought though the ledger has them.
  is_again boolean not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  ending text check (ending in ('complete', 'cut', 'replaced')),
  -- The end of the freshness of the page that stays fresh longest.
  fresh_until timestamptz,
  -- The rows that came, with those that came twice or were dropped, and those that are kept.
  arrived bigint not null default 0,
  stored bigint not null default 0,
  -- The rows that were not kept, by verdict.
  dropped jsonb not null default '{}',
  parts jsonb not null
);
create index list_fetches_list on list_fetches (list, id);
create table list_rows (
  fetch_id bigint not null references list_fetches (id) on delete cascade,
  -- The place in the order of arrival. With gaps, where a row came twice or was dropped.
  ordinal bigint not null,
  part bigint not null,
  page bigint not null,
  lookup_key text collate "C" not null,
  row_key text collate "C" not null,
  identity jsonb not null,
  identities jsonb not null,
  cells jsonb not null,
  -- The places at which it came: part, page and rank in each part.
  found jsonb not null,
  primary key (fetch_id, ordinal),
  unique (fetch_id, row_key)
);
create table list_row_identities (
  fetch_id bigint not null references list_fetches (id) on delete cascade,
  kind text collate "C" not null,
  value text collate "C" not null,
  -- The first row that has it, and the first that has it without a profile.
  ordinal bigint not null,
  alone bigint,
  -- True: another row has it too.
  is_shared boolean not null default false,
  primary key (fetch_id, kind, value)
);
create index list_row_identities_value on list_row_identities (kind, value);
`
