/** The meanings that deliveries of monitors bore, and the outcome of each delivery. Older versions go on by the digest of the body. */
export const monitorSeen = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table monitor_seen (
  -- The service's id of the monitor, or empty where a delivery names none.
  monitor text collate "C" not null,
  -- A kind and a digest: see read-delivery.ts.
  meaning text collate "C" not null,
  -- The delivery that brought it first, which alone works it.
  digest text collate "C" not null,
  -- The company's profile or domain. Null where none is known, and once it was forgotten.
  company text collate "C",
  seen_at timestamptz not null,
  primary key (monitor, meaning)
);
create index monitor_seen_seen_at on monitor_seen (seen_at);
alter table monitor_deliveries add column outcome text;
alter table monitor_deliveries add column timing text;
alter table monitor_deliveries add column monitor text;
alter table monitor_deliveries add column triggered_at timestamptz;
alter table monitor_deliveries add column repeats bigint not null default 0;
`
