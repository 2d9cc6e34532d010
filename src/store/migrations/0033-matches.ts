/** The matches of declared monitors, one row a company and time: nothing of them is in a table that an older version reads. */
export const matches = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table matches (
  -- The id of its run.
  id text collate "C" primary key,
  monitor text collate "C" not null,
  -- The company: identity, values and identities, as a row of a list has them. Empty once it was forgotten.
  company jsonb not null,
  identities jsonb not null,
  -- The signals that named it, for the note.
  signals jsonb not null,
  state text not null check (state in ('waiting', 'review', 'done')),
  -- How it ended; null before that.
  outcome text,
  reason text,
  -- The record of the company, once it is known.
  record_id text collate "C",
  -- The plans of its steps, by step: noted before a plan is made.
  plans jsonb not null default '{}',
  taken_at timestamptz not null,
  due_at timestamptz not null,
  tries bigint not null default 0,
  done_at timestamptz
);
create index matches_taken on matches (monitor, taken_at);
create index matches_due on matches (due_at) where state <> 'done';
`
