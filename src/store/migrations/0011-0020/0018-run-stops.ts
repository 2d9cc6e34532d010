/**
 * The runs that a person stopped, until a person resumes them. A process of an older version does not read this table: it
 * leaves such a run stopped, as it does every stopped run, but a schedule of that version may start it again.
 */
export const runStops = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table run_stops (
  run_id text primary key references runs (id),
  stopped_by text not null,
  -- What the person wrote; blank: nothing.
  reason text not null,
  stopped_at timestamptz not null
);
`
