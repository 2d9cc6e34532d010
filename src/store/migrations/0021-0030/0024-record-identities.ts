/**
 * The canonical values by which records of the CRMs are found again, and how far each object of a CRM has been read for them. A
 * process of an older version adds nothing to them: what it sees is taken up by the next whole scan, which creating needs anyway.
 */
export const recordIdentities = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table record_identities (
  connector text collate "C" not null,
  entity text collate "C" not null,
  record_id text collate "C" not null,
  kind text collate "C" not null,
  value text collate "C" not null,
  seen_at timestamptz not null,
  primary key (connector, entity, record_id, kind, value)
);
create index record_identities_value on record_identities (kind, value);
create table record_indexes (
  connector text collate "C" not null,
  entity text collate "C" not null,
  -- The whole scan that is under way or was the last one.
  started_at timestamptz not null,
  -- The place in the scan behind the pages that are stored.
  watermark text,
  records bigint not null default 0,
  -- The end of the last whole scan, and the time up to which later changes are in.
  completed_at timestamptz,
  current_at timestamptz,
  primary key (connector, entity)
);
`
