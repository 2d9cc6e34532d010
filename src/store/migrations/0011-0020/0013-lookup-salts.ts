/**
 * A random salt for each lookup, which becomes part of its payments' seed. The column comes first and its default second:
 * existing lookups keep none, and so derive what they derived, and a process of the version before, which does not know the
 * column, inserts rows with a salt too.
 */
export const lookupSalts = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
alter table lookups add column salt text;
alter table lookups alter column salt set default gen_random_uuid()::text;
`
