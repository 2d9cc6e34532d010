/** The notes and tasks that are written into CRMs, one row a marker. */
export const crmNotes = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
create table crm_notes (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('note', 'task')),
  connector text collate "C" not null,
  entity text collate "C" not null,
  record_id text collate "C" not null,
  -- Our own key in the text of the note; random once its subject was forgotten.
  marker text collate "C" not null,
  state text not null check (state in ('intent', 'sent', 'done', 'left', 'undone')),
  run_id text,
  -- Title, text, links, day and owner, until it is done: a repeat writes the same.
  draft jsonb,
  -- The people that its text names.
  identities jsonb not null default '[]',
  note_id text collate "C",
  -- Digests of what it held after it was written. Null: nobody knows.
  snapshot jsonb,
  reason text,
  created_at timestamptz not null,
  sent_at timestamptz,
  done_at timestamptz,
  undone_at timestamptz,
  unique (connector, entity, marker)
);
create index crm_notes_record on crm_notes (connector, entity, record_id);
create index crm_notes_run on crm_notes (run_id, id);
create index crm_notes_open on crm_notes (connector, entity, id) where state in ('intent', 'sent');
`
