/** Records of what retention has erased. The version before reads none of it, and its runs are erased like others. */
export const erasures = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
-- One row a table and round of the maintenance in which something was erased.
create table erasures (
  id bigint generated always as identity primary key,
  name text collate "C" not null,
  -- By the setting of this time: everything before it was due.
  older_than timestamptz not null,
  began_at timestamptz not null,
  ended_at timestamptz not null,
  rows bigint not null,
  unique (name, began_at)
);
-- Null: it still holds what it was made with.
alter table tasks add column erased_at timestamptz;
alter table runs add column erased_at timestamptz;
`
