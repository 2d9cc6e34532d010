/** Schedules with their occurrences, and alerts with their deliveries. */
export const schedules = `
create table schedules (
  name text primary key,
  is_paused boolean not null default false,
  paused_by text,
  paused_at timestamptz,
  -- All planned times up to this one were handled: started, missed, or skipped while paused.
  handled_until timestamptz not null
);

-- An occurrence: one sync of one entity, at a planned time of a schedule or on request.
create table schedule_turns (
  id bigint generated always as identity primary key,
  schedule text,
  connector text not null,
  entity text not null,
  recipe text,
  -- The most records to scan, and the conditions of the scan.
  job jsonb not null,
  cause text not null check (cause in ('cron', 'catch_up', 'run_now', 'request')),
  planned_at timestamptz not null,
  -- The window: not started after start_by, stopped at stop_at. null: no limit.
  start_by timestamptz,
  stop_at timestamptz,
  state text not null check (state in ('due', 'scanning', 'handed_over', 'stopped', 'missed', 'failed')),
  -- Not claimed before this time: another process holds it, or the source asked to wait.
  not_before timestamptz not null,
  -- The process that scans, and until when it holds the lease.
  holder text,
  lease_until timestamptz,
  run_id text references runs (id),
  reason text,
  changed_at timestamptz not null,
  unique (schedule, entity, planned_at)
);
create index schedule_turns_open on schedule_turns (not_before) where state in ('due', 'scanning');
create index schedule_turns_latest on schedule_turns (schedule, planned_at desc);
create index schedule_turns_run on schedule_turns (run_id);

create table alerts (
  id bigint generated always as identity primary key,
  -- The condition and what it concerns: schedule_missed, nightly/contacts.
  condition text not null,
  subject text not null,
  severity text not null check (severity in ('warning', 'critical')),
  message text not null,
  raised_at timestamptz not null,
  ended_at timestamptz,
  ended_message text
);
-- One alert for each condition and subject, however many processes detect it.
create unique index alerts_standing on alerts (condition, subject) where ended_at is null;
create index alerts_raised on alerts (raised_at desc);

-- The messages that the webhook has not received yet.
create table alert_deliveries (
  id bigint generated always as identity primary key,
  alert_id bigint not null references alerts (id) on delete cascade,
  kind text not null check (kind in ('raised', 'ended')),
  due_at timestamptz not null,
  -- Until then one process delivers it.
  lease_until timestamptz,
  tries int not null default 0,
  delivered_at timestamptz,
  problem text,
  unique (alert_id, kind)
);
create index alert_deliveries_due on alert_deliveries (due_at) where delivered_at is null
`
