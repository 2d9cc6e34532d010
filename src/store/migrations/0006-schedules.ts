/** Schedules and their turns, and the alerts that stand. */
export const schedules = `
create table schedules (
  name text primary key,
  is_paused boolean not null default false,
  paused_by text,
  paused_at timestamptz,
  -- Planned times up to here were dealt with: begun, missed, or passed over while paused.
  handled_until timestamptz not null
);

-- One sync of one entity: a planned time of a schedule, or somebody's wish to have it now.
create table schedule_turns (
  id bigint generated always as identity primary key,
  schedule text,
  connector text not null,
  entity text not null,
  recipe text,
  -- The most records, and what narrows the scan.
  job jsonb not null,
  cause text not null check (cause in ('cron', 'catch_up', 'run_now', 'request')),
  planned_at timestamptz not null,
  -- The window: not begun after, ended at. null: whenever.
  start_by timestamptz,
  stop_at timestamptz,
  state text not null check (state in ('due', 'scanning', 'handed_over', 'stopped', 'missed', 'failed')),
  -- Not taken before: somebody else is at it, or the source asked to be left alone.
  not_before timestamptz not null,
  -- Who scans, and until when nobody else may.
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
  -- What is wrong, and with what: schedule_missed, nightly/contacts.
  condition text not null,
  subject text not null,
  severity text not null check (severity in ('warning', 'critical')),
  message text not null,
  raised_at timestamptz not null,
  ended_at timestamptz,
  ended_message text
);
-- One message a condition, however many processes see it.
create unique index alerts_standing on alerts (condition, subject) where ended_at is null;
create index alerts_raised on alerts (raised_at desc);

-- The messages that the webhook has yet to take.
create table alert_deliveries (
  id bigint generated always as identity primary key,
  alert_id bigint not null references alerts (id) on delete cascade,
  kind text not null check (kind in ('raised', 'ended')),
  due_at timestamptz not null,
  -- Until then one process tries.
  lease_until timestamptz,
  tries int not null default 0,
  delivered_at timestamptz,
  problem text,
  unique (alert_id, kind)
);
create index alert_deliveries_due on alert_deliveries (due_at) where delivered_at is null
`
