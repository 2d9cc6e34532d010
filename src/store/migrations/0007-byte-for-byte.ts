/** What undo needs to put a record back to the byte, and what must not be written again. */
export const byteForByte = `
-- What stood in our own fields of the record before this task wrote to it; null: not known.
alter table tasks add column own_before jsonb;

-- old_value as the CRM held it, to the byte; null: nothing stood there, or the row is older than this column.
alter table field_writes add column old_raw jsonb;
-- The rule under which a value was written and a digest of where its field went; null in rows from before this column.
alter table field_writes add column rule text;
alter table field_writes add column mapping text;
-- Why the CRM refused it.
alter table field_writes add column code text;
alter table field_writes drop constraint field_writes_state_check;
-- rejected: sent, and refused by the CRM. It is not sent again until the value or the mapping changes.
alter table field_writes add constraint field_writes_state_check
  check (state in ('intended', 'written', 'undone', 'superseded', 'rejected'));
`
