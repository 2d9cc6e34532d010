/**
 * The words by which the desk finds tasks: names, addresses, domains and profiles in the forms of their lookup keys. They stand
 * in a table of their own, so that no index is built on the large table of tasks, and the steps of a task do not pay for it.
 * A process of an older version does not know the table: its tasks are taken up by the next one that does.
 */
export const taskWords = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table task_words (
  task_id bigint primary key references tasks (id) on delete cascade,
  words tsvector not null,
  -- When the task had changed last as its words were read. It is read again when it ends.
  seen_at timestamptz not null
);
create index task_words_words on task_words using gin (words);
`
