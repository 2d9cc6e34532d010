/**
 * The measurements that the ledger has no row for: durations, rate limiting and pace. No column names a record.
 * A process of an older version neither reads nor fills the table.
 */
export const measurements = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table measurements (
  kind text not null,
  -- An operation, a connector, or a path of the pacer.
  name text not null,
  -- An outcome or a call.
  part text not null,
  -- all: since the beginning, with begins_at at the epoch; minute, quarter: the minute or quarter of an hour that begins then.
  span text not null,
  begins_at timestamptz not null,
  count bigint not null,
  sum double precision not null,
  -- Counts by duration; empty where no duration was measured.
  buckets bigint[] not null,
  primary key (kind, name, part, span, begins_at)
);
`
