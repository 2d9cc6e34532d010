/** The data by which undo restores a record byte for byte, and the values that must not be written again. */
export const byteForByte = `
-- The values of our own fields of the record before this task wrote to it; null: unknown.
alter table tasks add column own_before jsonb;

-- old_value exactly as the CRM held it; null: blank, or the row is older than this column.
alter table field_writes add column old_raw jsonb;
-- The rule under which a value was written and a digest of its field's mapping; null in rows older than these columns.
alter table field_writes add column rule text;
alter table field_writes add column mapping text;
-- Why the CRM refused it.
alter table field_writes add column code text;
alter table field_writes drop constraint field_writes_state_check;
-- rejected: the CRM refused it. It is not sent again until the value or the mapping changes.
alter table field_writes add constraint field_writes_state_check
  check (state in ('intended', 'written', 'undone', 'superseded', 'rejected'));
`
