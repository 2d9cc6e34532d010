/**
 * Lists of runs say which were undone. Few fields ever are, so the index is small; the fields of all listed runs are not read.
 * While it is built, fields of CRMs are not written: about a second for a million. Processes of older versions do not use it.
 */
export const undoneFieldsIndex = `
set local lock_timeout = '10s';
set local statement_timeout = '5min';
-- Migrations run inside one transaction.
-- squawk-ignore require-concurrent-index-creation
create index field_writes_undone on field_writes (run_id) where state = 'undone';
`
