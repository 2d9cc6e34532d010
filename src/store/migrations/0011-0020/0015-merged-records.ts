/**
 * The records of a CRM that were merged, each with the one it is in now. The ledger's writes keep the id under which they were made; by these rows
 * the record that is left has the history of all.
 */
export const mergedRecords = `
create table merged_records (
  connector text not null,
  entity text not null,
  record_id text not null,
  into_id text not null,
  seen_at timestamptz not null,
  primary key (connector, entity, record_id),
  -- For the way back, from the record that is left.
  unique (connector, entity, into_id, record_id)
);
`
