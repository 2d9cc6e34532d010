/**
 * The references that a list's similar searches ask for, one row a reference, as they were last read out of a CRM. A process of an
 * older version neither reads nor fills them.
 */
export const listReferences = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table list_references (
  list text collate "C" not null,
  ordinal bigint not null,
  -- A digest of the settings by which they were read.
  rules text collate "C" not null,
  read_at timestamptz not null,
  name text not null,
  -- The key of the request that names it, and everything by which it is recognised among the rows.
  question jsonb not null,
  identities jsonb not null,
  service_ids jsonb not null,
  record_ids jsonb not null,
  primary key (list, ordinal)
);
`
