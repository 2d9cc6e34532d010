/** The monitors of the settings that were made or adopted, by their name there. An older version does not read it. */
export const declaredMonitors = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table declared_monitors (
  name text collate "C" primary key,
  -- The id at the service.
  monitor_id text collate "C" not null,
  since timestamptz not null,
  -- The last comparison with the settings, and whether it found a difference.
  compared_at timestamptz,
  differs boolean
);
`
