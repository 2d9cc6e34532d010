/** People of a CRM whose jobs are checked again. Nothing of it is in a table that an older version reads. */
export const champions = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table champions (
  -- Its name under champions in the settings.
  watch text collate "C" not null,
  connector text collate "C" not null,
  entity text collate "C" not null,
  record_id text collate "C" not null,
  -- The canonical profile URL that was looked up.
  profile_url text collate "C" not null,
  -- The time of the answer that was judged.
  checked_at timestamptz not null,
  lookup_key text collate "C" not null,
  verdict text not null,
  -- The job against which the next answer is held: employer's profile URL, domain, and title.
  known jsonb not null,
  -- The employer to which the person has moved; null before.
  employer jsonb,
  -- The day of the answer that showed first that the job has ended; null while it goes on.
  left_at timestamptz,
  primary key (watch, connector, entity, record_id)
);
create index champions_profile on champions (profile_url);
`
