/**
 * The kind of a task: a record is enriched, or made from a row of a list. A process of an older version makes records without the word,
 * so those that stand as enriched are told apart by their run.
 */
export const taskKinds = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
alter table tasks add column kind text not null default 'enrich';
alter table tasks add constraint tasks_kind_check check (kind in ('enrich', 'create')) not valid;
`
