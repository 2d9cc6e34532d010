/** The records of champions at their new employers. An older version does not read the column. */
export const championJoins = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
-- The record at the new employer: made by us, or there before. Null: there is none yet.
alter table champions add column joined jsonb;
`
