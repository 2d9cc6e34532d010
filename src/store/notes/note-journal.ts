import { sql } from 'kysely'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'
import type { NoteState, StoredNoteDraft, StoredNoteSnapshot } from '../database/tables/note-tables.ts'
import { isOneOf, storableJson } from '../database/parameters.ts'

/** A note or task in the ledger. */
export interface JournaledNote {
  id: bigint
  kind: 'note' | 'task'
  recordId: string
  marker: string
  state: NoteState
  /** Null once it is done. */
  draft: StoredNoteDraft | null
  noteId: string | null
  snapshot: StoredNoteSnapshot | null
  reason: string | null
  createdAt: Date
  sentAt: Date | null
}

interface NewNote {
  kind: 'note' | 'task'
  recordId: string
  marker: string
  draft: StoredNoteDraft
  people: readonly RecordIdentity[]
}

/** The CRM's object to whose records notes are written. */
interface NotePlace {
  connector: string
  entity: string
}

type NoteEnding = { id: bigint } & (
  { state: 'done'; noteId: string; snapshot: StoredNoteSnapshot | null } | { state: 'left'; reason: string }
)

/** A note as far as later ones depend on it. */
export interface KnownNote {
  state: NoteState
  /** The time at which its text was put down. */
  createdAt: Date
}

export interface NoteJournal {
  /** Returns those that have one of these markers, by marker. */
  known(place: NotePlace, markers: readonly string[]): Promise<Map<string, KnownNote>>
  /** Notes what is to be written, and returns the state of each by marker. What was sent, done or undone stays as it is. */
  intend(
    place: NotePlace,
    runId: string | null,
    notes: readonly NewNote[],
  ): Promise<Map<string, JournaledNote>>
  /** Returns those of the place that nobody has ended, and whose last step was before this time, oldest first. */
  open(place: NotePlace, before: Date, limit: number): Promise<JournaledNote[]>
  /** Notes that they may be in the CRM from now on. Returns those that are ours to send: another process may have taken one. */
  claim(notes: readonly JournaledNote[]): Promise<JournaledNote[]>
  /** Takes a claim back: nothing was sent. */
  release(ids: readonly bigint[]): Promise<void>
  end(endings: readonly NoteEnding[]): Promise<void>
  /** Returns the notes and tasks of a run behind this one, in their order, with their objects. */
  ofRun(runId: string, after: bigint, limit: number): Promise<(JournaledNote & NotePlace)[]>
  countOfRun(runId: string): Promise<number>
  markUndone(ids: readonly bigint[], reason?: string): Promise<void>
}

/** The ledger of notes and tasks. The crash windows are above `writeNotes` (src/app/notes/write-notes.ts). */
export function createNoteJournal(db: Database, { now }: { now: () => Date }): NoteJournal {
  const texts = (ids: readonly bigint[]): string[] => ids.map(String)
  return {
    async intend({ connector, entity }, runId, notes) {
      if (notes.length === 0) return new Map()
      const rows = notes.map(({ kind, recordId, marker, draft, people }) => ({
        kind,
        record_id: recordId,
        marker,
        draft,
        identities: people,
      }))
      await sql`
        insert into crm_notes as kept (kind, connector, entity, record_id, marker, state, run_id, draft, identities, created_at)
        select kind, ${connector}, ${entity}, record_id, marker, 'intent', ${runId}, draft, identities, ${now()}::timestamptz
        from jsonb_to_recordset(${storableJson(rows)}::jsonb) as given (kind text, record_id text, marker text, draft jsonb,
          identities jsonb)
        on conflict (connector, entity, marker) do update set state = 'intent', run_id = excluded.run_id,
          record_id = excluded.record_id, draft = excluded.draft, identities = excluded.identities,
          created_at = excluded.created_at, sent_at = null, done_at = null, reason = null
          where kept.state in ('intent', 'left')`.execute(db)
      const found = await db
        .selectFrom('crm_notes')
        .select(columns)
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .where(
          'marker',
          'in',
          notes.map(({ marker }) => marker),
        )
        .execute()
      return new Map(found.map((row) => [row.marker, noteOf(row)]))
    },

    async known({ connector, entity }, markers) {
      const rows = await db
        .selectFrom('crm_notes')
        .select(['marker', 'state', 'created_at as createdAt'])
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .where(isOneOf('marker', markers))
        .execute()
      return new Map(rows.map(({ marker, ...note }) => [marker, note]))
    },

    async open({ connector, entity }, before, limit) {
      const rows = await db
        .selectFrom('crm_notes')
        .select(columns)
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .where('state', 'in', ['intent', 'sent'])
        .where(sql<boolean>`coalesce(sent_at, created_at) < ${before}::timestamptz`)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(noteOf)
    },

    async claim(notes) {
      if (notes.length === 0) return []
      const at = now()
      const given = notes.map(({ id, state, sentAt }) => ({ id: String(id), state, sent_at: sentAt }))
      const { rows } = await sql<{ id: string }>`
        update crm_notes set state = 'sent', sent_at = ${at}::timestamptz
        from jsonb_to_recordset(${storableJson(given)}::jsonb) as given (id bigint, state text, sent_at timestamptz)
        where crm_notes.id = given.id and crm_notes.state = given.state and given.state in ('intent', 'sent')
          and crm_notes.draft is not null and crm_notes.sent_at is not distinct from given.sent_at
        returning crm_notes.id::text`.execute(db)
      const ours = new Set(rows.map(({ id }) => id))
      return notes
        .filter(({ id }) => ours.has(String(id)))
        .map((note) => ({ ...note, state: 'sent', sentAt: at }))
    },

    async release(ids) {
      if (ids.length === 0) return
      await sql`update crm_notes set state = 'intent', sent_at = null
        where id = any(${texts(ids)}::bigint[]) and state = 'sent'`.execute(db)
    },

    async end(endings) {
      if (endings.length === 0) return
      const rows = endings.map((ending) => ({
        id: String(ending.id),
        state: ending.state,
        note_id: ending.state === 'done' ? ending.noteId : null,
        snapshot: ending.state === 'done' ? ending.snapshot : null,
        reason: ending.state === 'left' ? ending.reason : null,
      }))
      await sql`
        update crm_notes set state = given.state, note_id = given.note_id, snapshot = nullif(given.snapshot, 'null'::jsonb),
          reason = given.reason, draft = null, done_at = ${now()}::timestamptz
        from jsonb_to_recordset(${storableJson(rows)}::jsonb) as given (id bigint, state text, note_id text, snapshot jsonb,
          reason text)
        where crm_notes.id = given.id and crm_notes.state = 'sent'`.execute(db)
    },

    async ofRun(runId, after, limit) {
      const rows = await db
        .selectFrom('crm_notes')
        .select([...columns, 'connector', 'entity'])
        .where('run_id', '=', runId)
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ connector, entity, ...row }) => ({ ...noteOf(row), connector, entity }))
    },

    async countOfRun(runId) {
      const { rows } = await sql<{ count: string }>`
        select count(*) from crm_notes where run_id = ${runId} and state <> 'left'`.execute(db)
      return Number(rows[0]?.count ?? 0)
    },

    async markUndone(ids, reason) {
      if (ids.length === 0) return
      await sql`
        update crm_notes set state = 'undone', draft = null, undone_at = ${now()}::timestamptz,
          reason = coalesce(${reason ?? null}, reason)
        where id = any(${texts(ids)}::bigint[])`.execute(db)
    },
  }
}

const columns = [
  'id',
  'kind',
  'record_id',
  'marker',
  'state',
  'draft',
  'note_id',
  'snapshot',
  'reason',
  'created_at',
  'sent_at',
] as const

function noteOf(row: {
  id: bigint | string
  kind: 'note' | 'task'
  record_id: string
  marker: string
  state: NoteState
  draft: StoredNoteDraft | null
  note_id: string | null
  snapshot: StoredNoteSnapshot | null
  reason: string | null
  created_at: Date
  sent_at: Date | null
}): JournaledNote {
  const { kind, marker, state, draft, snapshot, reason } = row
  return {
    id: BigInt(row.id),
    kind,
    recordId: row.record_id,
    marker,
    state,
    draft,
    noteId: row.note_id,
    snapshot,
    reason,
    createdAt: row.created_at,
    sentAt: row.sent_at,
  }
}
