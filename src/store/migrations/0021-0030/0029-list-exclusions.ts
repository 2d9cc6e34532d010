/**
 * The records that the filters of a list leave out, while one command compares its rows with them. Each reading is read out of the CRM
 * anew, so nothing is lost with it. A process of an older version neither reads nor fills it.
 */
export const listExclusions = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table list_exclusions (
  reading text collate "C" not null,
  object text collate "C" not null,
  kind text collate "C" not null,
  value text collate "C" not null,
  read_at timestamptz not null,
  primary key (reading, object, kind, value)
);
create index list_exclusions_value on list_exclusions (kind, value);
`
