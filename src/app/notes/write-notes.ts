import type { Connector } from '../../connectors/connector.ts'
import type { NoteDraft, NoteKind, NoteWriter } from '../../connectors/noting.ts'
import { ConfigError, RetriableError } from '../../domain/errors.ts'
import { createNoteJournal, type JournaledNote, type NoteJournal } from '../../store/notes/note-journal.ts'
import type { Context } from '../context/context.ts'
import { withOwners } from './task-owners.ts'

/**
 * The outcome of one draft. `already`: it was written before. `undone`: a person has taken it back, and it is not written again. `left`:
 * the CRM did not take it, and the same draft may be tried again. `waiting`: the next call for the entity goes on with it.
 */
export interface NoteOutcome {
  marker: string
  kind: NoteKind
  recordId: string
  status: 'written' | 'already' | 'undone' | 'left' | 'waiting'
  noteId?: string
  reason?: string
}

interface Options {
  /** The object of the records that the drafts are about. */
  entity: string
  /** The run whose undo takes them back. Null: none does. */
  runId: string | null
  /** A note that was sent and is not found is sent again only after this time. */
  settleMs?: number | undefined
}

/** A CRM may work on a request for some time after the process that sent it has died. */
export const defaultSettleMs = 120_000
const mostLeftOver = 500

/**
 * Writes each note and task once, however often it is asked for: a draft is known by its marker. Returns the outcome of each draft, and
 * goes on with what earlier calls for the same object left over. A task without an owner gets the record's. Costs nothing at the service.
 *
 * Crash windows, by the state in which a kill leaves a draft:
 * - No row: nothing was sent. Its caller comes again with the same marker.
 * - `intent`: nothing was sent. The next call with the marker sends it, or any call for the entity once it is old.
 * - `sent`, before the request, while the CRM works on it, or after its answer: the CRM may have it. It is looked for by its marker among
 *   what is tied to the record. Found, it is done, with no snapshot: nobody knows who has touched it since, and no undo removes it. Not
 *   found, it is sent again, but only when the CRM can no longer be at work on the first request.
 * - Written, and not noted as `done`: the same.
 * Two processes with one marker: the permission to send is an update that compares the time of the last one, so that one of them gets it.
 * A subject that is forgotten meanwhile takes its drafts along: the permission finds no draft.
 */
export async function writeNotes(
  context: Pick<Context, 'database' | 'now'>,
  connector: Connector,
  drafts: readonly NoteDraft[],
  { entity, runId, settleMs = defaultSettleMs }: Options,
): Promise<NoteOutcome[]> {
  const writer = connector.notes
  if (!writer)
    throw new ConfigError(
      'takes_no_notes',
      `${connector.name} takes no notes and no tasks: leave note and task out of the config, or name a CRM`,
    )
  const journal = createNoteJournal(context.database.db, context)
  const place = { connector: connector.name, entity }
  const given = new Map(drafts.map((draft) => [draft.marker, draft]))
  const noted = await journal.intend(place, runId, [...given.values()].map(newNote))
  const before = new Date(context.now().getTime() - settleMs)
  const leftOver = await journal.open(place, before, mostLeftOver)
  const notes = new Map([...noted.values(), ...leftOver].map((note) => [note.marker, note]))
  const outcomes = new Map<string, NoteOutcome>()
  const work = { connector, writer, journal, entity, outcomes }

  for (const note of notes.values())
    if (note.state === 'done' || note.state === 'undone')
      settle(work, note, {
        status: note.state === 'done' ? 'already' : 'undone',
        ...(note.noteId === null ? {} : { noteId: note.noteId }),
      })
  const suspects = [...notes.values()].filter(({ state }) => state === 'sent')
  const missing = await look(work, suspects)
  const toSend = [...notes.values()].filter(({ state }) => state === 'intent')
  for (const note of missing)
    if (note.sentAt !== null && note.sentAt <= before) toSend.push(note)
    else
      settle(work, note, {
        status: 'waiting',
        reason: 'sent a moment ago: the CRM may still be at work on it',
      })
  for (let at = 0; at < toSend.length; at += writer.perWrite)
    await send(work, toSend.slice(at, at + writer.perWrite))
  return drafts.flatMap(({ marker }) => outcomes.get(marker) ?? [])
}

interface Work {
  connector: Connector
  writer: NoteWriter
  journal: NoteJournal
  entity: string
  outcomes: Map<string, NoteOutcome>
}

function settle(
  { outcomes }: Work,
  { marker, kind, recordId }: JournaledNote,
  outcome: Pick<NoteOutcome, 'status' | 'noteId' | 'reason'>,
): void {
  outcomes.set(marker, { marker, kind, recordId, ...outcome })
}

/** Looks for what may be in the CRM, ends what is there, and returns the rest. */
async function look(work: Work, suspects: readonly JournaledNote[]): Promise<JournaledNote[]> {
  if (suspects.length === 0) return []
  const wanted = suspects.map(({ kind, marker, recordId, createdAt: since }) => ({
    kind,
    marker,
    recordId,
    since,
  }))
  const found = await work.writer.findByMarker(work.entity, wanted)
  const there = suspects.flatMap((note) => {
    const noteId = found.get(note.marker)
    return noteId === undefined ? [] : [{ note, noteId }]
  })
  await work.journal.end(
    there.map(({ note: { id }, noteId }) => ({ id, state: 'done', noteId, snapshot: null })),
  )
  for (const { note, noteId } of there) settle(work, note, { status: 'written', noteId })
  return suspects.filter(({ marker }) => !found.has(marker))
}

async function send(work: Work, asked: readonly JournaledNote[]): Promise<void> {
  const { writer, journal, entity } = work
  // Read before the permission: what fails here has sent nothing.
  const drafts = await withOwners(
    work.connector,
    entity,
    asked.flatMap((note) => draftOf(note) ?? []),
  )
  const claimed = new Map((await journal.claim(asked)).map((note) => [note.marker, note]))
  for (const note of asked)
    if (!claimed.has(note.marker))
      settle(work, note, { status: 'waiting', reason: 'another process writes it' })
  const ours = drafts.filter(({ marker }) => claimed.has(marker))
  if (ours.length === 0) return
  let results
  try {
    results = await writer.write(entity, ours)
  } catch (error) {
    // Settings that a person must correct: the CRM has taken nothing of it.
    if (error instanceof ConfigError) await journal.release([...claimed.values()].map(({ id }) => id))
    throw error
  }
  const written = results.flatMap((result) => {
    const note = claimed.get(result.marker)
    return result.status === 'written' && note ? [{ note, noteId: result.id }] : []
  })
  const snapshots = await snapshotsOf(
    writer,
    entity,
    written.map(({ note: { kind, recordId }, noteId: id }) => ({ kind, recordId, id })),
  )
  await journal.end(
    written.map(({ note: { id }, noteId }) => ({
      id,
      state: 'done',
      noteId,
      snapshot: snapshots?.get(noteId) ?? null,
    })),
  )
  for (const { note, noteId } of written) settle(work, note, { status: 'written', noteId })
  const unclear: JournaledNote[] = []
  for (const result of results) {
    const note = claimed.get(result.marker)
    if (!note || result.status === 'written') continue
    const { reason } = result
    if (result.status === 'unclear') unclear.push(note)
    else if (result.status === 'retry') await journal.release([note.id])
    else await journal.end([{ id: note.id, state: 'left', reason }])
    const isLeft = result.status === 'skipped' || result.status === 'rejected'
    settle(work, note, { status: isLeft ? 'left' : 'waiting', reason })
  }
  try {
    await look(work, unclear)
  } catch (error) {
    // The next call looks again.
    if (!(error instanceof RetriableError)) throw error
  }
}

async function snapshotsOf(
  writer: NoteWriter,
  entity: string,
  written: readonly { kind: NoteKind; id: string; recordId: string }[],
) {
  if (written.length === 0) return undefined
  try {
    return await writer.snapshots(entity, written)
  } catch (error) {
    if (error instanceof RetriableError) return undefined
    throw error
  }
}

function newNote({ kind, marker, recordId, title, body, links, dueAt, ownerId, people = [] }: NoteDraft) {
  return {
    kind,
    marker,
    recordId,
    people,
    draft: {
      title,
      body,
      links: [...links],
      dueAt: dueAt?.toISOString() ?? null,
      ownerId: ownerId ?? null,
    },
  }
}

function draftOf({ kind, marker, recordId, draft }: JournaledNote): NoteDraft | undefined {
  if (draft === null) return undefined
  const { title, body, links, dueAt, ownerId } = draft
  return {
    kind,
    marker,
    recordId,
    title,
    body,
    links,
    ...(dueAt === null ? {} : { dueAt: new Date(dueAt) }),
    ...(ownerId === null ? {} : { ownerId }),
  }
}
