/**
 * The answers of people about rows of lists: it is this record, it is none of those shown, or it never becomes one. A process
 * of before that still runs does not know them: rows that wait go on waiting there, and one that never becomes a record is as it was.
 */
export const listReviews = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table list_reviews (
  id bigint generated always as identity primary key,
  connector text collate "C" not null,
  entity text collate "C" not null,
  -- The list in which the answer was given. It holds for the rows of every list into the same object.
  list text not null,
  -- The digest of the row's best name, by which people name the row.
  key text collate "C" not null,
  -- Every identity of the row as "kind|value", by which it is found to be forgotten.
  identities jsonb not null,
  answer text not null check (answer in ('same', 'new', 'never')),
  record_id text check ((answer = 'same') = (record_id is not null)),
  -- The records that were shown when the answer was given.
  shown jsonb not null,
  decided_by text not null,
  decided_at timestamptz not null
);
create index list_reviews_list on list_reviews (list, decided_at);
create index list_reviews_record on list_reviews (connector, entity, record_id);
create table list_review_names (
  connector text collate "C" not null,
  entity text collate "C" not null,
  name text collate "C" not null,
  review_id bigint not null references list_reviews (id) on delete cascade,
  -- The last answer about a name replaces the one before.
  primary key (connector, entity, name)
);
create index list_review_names_review on list_review_names (review_id);
`
