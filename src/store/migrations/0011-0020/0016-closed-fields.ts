/**
 * The fields to which nothing could be written when a run and its tasks were planned, by why. A worker takes no step for them.
 * Null in rows of older versions: there nothing is known, and steps are taken as before.
 */
export const closedFields = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
alter table runs add column closed jsonb;
alter table tasks add column closed jsonb;
`
