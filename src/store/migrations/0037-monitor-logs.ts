/**
 * Deliveries that were read from the service's log, counts of deliveries that outlive them, names of headers, monitors that are no more.
 * An older version does not read them.
 */
export const monitorLogs = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
-- hook: it was delivered here. log: the service's log names it, and it was missing here.
alter table monitor_deliveries add column source text not null default 'hook';
-- The newest delivery of each monitor, by which others are told to be out of order.
create table monitor_newest (
  monitor text collate "C" primary key,
  triggered_at timestamptz not null
);
-- The deliveries that were deleted after their time, counted.
create table monitor_delivery_totals (
  monitor text collate "C" not null,
  outcome text not null,
  timing text not null,
  deliveries bigint not null,
  repeats bigint not null,
  primary key (monitor, outcome, timing)
);
-- Headers of deliveries that nothing here reads. Names alone: a value may be a secret.
create table monitor_headers (
  name text collate "C" primary key,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null
);
-- Ids that a monitor of the settings had before it was deleted or replaced.
create table former_monitors (
  monitor_id text collate "C" primary key,
  name text collate "C" not null,
  ended_at timestamptz not null
);
-- How far the log of a monitor was read, and how the service showed it then.
create table monitor_log_reads (
  monitor_id text collate "C" primary key,
  -- The newest detection of a reading that came to its end.
  position timestamptz,
  read_at timestamptz,
  next_at timestamptz not null,
  problem text,
  -- The status at the service; null where it does not show the monitor.
  status text
);
-- Every entry of a log that was compared with the deliveries.
create table monitor_log_entries (
  monitor_id text collate "C" not null,
  entry_id text collate "C" not null,
  detected_at timestamptz,
  -- received, missing, test, or no_company.
  found text not null,
  read_at timestamptz not null,
  primary key (monitor_id, entry_id)
);
create index monitor_log_entries_detected_at on monitor_log_entries (monitor_id, detected_at);
create index monitor_log_entries_read_at on monitor_log_entries (read_at);
`
