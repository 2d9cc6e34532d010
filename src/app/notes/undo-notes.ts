import type { Connector } from '../../connectors/connector.ts'
import type { NoteKind, NoteSnapshot } from '../../connectors/noting.ts'
import { RetriableError } from '../../domain/errors.ts'
import { isForgottenRecord } from '../../domain/subjects/forgotten.ts'
import { createNoteJournal, type JournaledNote } from '../../store/notes/note-journal.ts'
import { pause } from '../../timing/pause.ts'
import type { Context } from '../context/context.ts'
import { defaultSettleMs } from './write-notes.ts'

/** One note or task of a run. */
interface UndoneNote {
  kind: NoteKind
  entity: string
  /** The record that it is about. */
  record: string
  /** Its id in the CRM. Null: it is not known. */
  note: string | null
  outcome: 'removed' | 'would_remove' | 'already' | 'left'
  /** The reason why it was not removed. */
  reason?: string
}

/** The notes and tasks of a run, taken back. Scripts rely on its form. */
export interface UndoneNotes {
  removed: number
  /** Those that were gone before, or never sent. */
  already: number
  left: number
  /** Those that were not removed; in a plan all of them. */
  rows: UndoneNote[]
  /** The reason why it ended early. The same call continues it. */
  unfinished?: string | undefined
}

const pageSize = 100
const longestPauseMs = 30_000

/**
 * Removes the notes and tasks that a run has written and nobody has touched since: text, owner, status, day and ties are as they were. The
 * others are left, each with its reason. Returns undefined for a run without any. One that is taken back is never written again.
 *
 * Crash window: a note is removed and the ledger does not know it. The next undo finds it gone and notes it. A person's change between the
 * comparison and the removal, which is one request later, is not seen.
 */
export async function undoNotes(
  context: Pick<Context, 'database' | 'now'>,
  connector: Connector,
  runId: string,
  { plan, signal }: { plan: boolean; signal: AbortSignal },
): Promise<UndoneNotes | undefined> {
  const journal = createNoteJournal(context.database.db, context)
  if ((await journal.countOfRun(runId)) === 0) return undefined
  const undone: UndoneNotes = { removed: 0, already: 0, left: 0, rows: [] }
  let after = 0n
  for (;;) {
    if (signal.aborted) return { ...undone, unfinished: 'it was interrupted' }
    const page = await journal.ofRun(runId, after, pageSize)
    const last = page.at(-1)
    if (!last) return undone
    after = last.id
    try {
      for (const [entity, notes] of Map.groupBy(page, (note) => note.entity)) {
        const judged = await judge(context, connector, entity, notes)
        const wanted = judged.filter(({ outcome }) => outcome === 'would_remove')
        if (!plan) {
          await removeAll(connector, entity, wanted, signal)
          const gone = judged.filter(({ outcome, isNews }) => isNews && outcome !== 'left')
          await journal.markUndone(gone.map(({ id }) => id))
        }
        for (const { id: _, isNews: __, ...row } of judged) {
          if (row.outcome === 'would_remove' || row.outcome === 'removed') undone.removed += 1
          else undone[row.outcome] += 1
          if (plan || row.outcome === 'left') undone.rows.push(row)
        }
      }
    } catch (error) {
      if (!(error instanceof RetriableError)) throw error
      return { ...undone, unfinished: error.message }
    }
  }
}

interface Judged extends UndoneNote {
  id: bigint
  /** The ledger does not know yet that it is gone. */
  isNews: boolean
}

async function judge(
  { now }: Pick<Context, 'now'>,
  connector: Connector,
  entity: string,
  notes: readonly JournaledNote[],
): Promise<Judged[]> {
  const writer = connector.notes
  const done = notes.flatMap(({ state, noteId, kind, recordId }) =>
    state === 'done' && noteId !== null ? [{ kind, recordId, id: noteId }] : [],
  )
  const sent = notes.filter(({ state, recordId }) => state === 'sent' && !isForgottenRecord(recordId))
  const snapshots = await (writer?.snapshots(entity, done) ?? new Map<string, NoteSnapshot>())
  const found = await (writer?.findByMarker(
    entity,
    sent.map(({ kind, marker, recordId, createdAt: since }) => ({ kind, marker, recordId, since })),
  ) ?? new Map<string, string>())
  const settledBefore = now().getTime() - defaultSettleMs
  return notes.flatMap((note): Judged[] => {
    const { id, kind, recordId: record, state, noteId, snapshot } = note
    const row = { id, kind, entity, record, note: noteId, isNews: false }
    const left = (reason: string, known = noteId): Judged[] => [
      { ...row, note: known, outcome: 'left', reason },
    ]
    if (state === 'left') return []
    if (state === 'undone') return [{ ...row, outcome: 'already' }]
    if (state === 'intent') return [{ ...row, outcome: 'already', isNews: true, reason: 'it was never sent' }]
    if (state === 'sent') {
      const there = found.get(note.marker)
      if (there !== undefined) return left(unknown, there)
      return (note.sentAt?.getTime() ?? 0) < settledBefore
        ? [{ ...row, outcome: 'already', isNews: true, reason: 'it did not arrive' }]
        : left('it was sent a moment ago and may still arrive: run the same command again in some minutes')
    }
    if (noteId === null)
      return left(
        'its values were erased: its subject was forgotten, or it is older than retention.recordsDays',
      )
    const current = snapshots.get(noteId)
    if (!current) return [{ ...row, outcome: 'already', isNews: true, reason: 'it is gone' }]
    if (snapshot === null) return left(unknown)
    const reason = touched(snapshot, current)
    return reason === undefined ? [{ ...row, outcome: 'would_remove', isNews: true }] : left(reason)
  })
}

const unknown = 'the process ended while it was written: nobody knows who has touched it since'

function touched(before: NoteSnapshot, now: NoteSnapshot): string | undefined {
  const changed = [
    ...(before.text === now.text ? [] : ['text']),
    ...(before.owner === now.owner ? [] : ['owner']),
    ...(before.status === now.status ? [] : [`status (${now.status ?? 'none'})`]),
    ...(before.due === now.due ? [] : ['day']),
    ...(JSON.stringify(before.ties) === JSON.stringify(now.ties) ? [] : ['records that it is tied to']),
  ]
  return changed.length > 0 ? `changed since: ${changed.join(', ')}` : undefined
}

/** Removes notes, and writes into each of them what became of it. */
async function removeAll(
  { notes: writer }: Connector,
  entity: string,
  wanted: readonly Judged[],
  signal: AbortSignal,
): Promise<void> {
  let waiting = [...wanted]
  for (let tries = 1; writer && waiting.length > 0; tries += 1) {
    const results = await writer.remove(
      entity,
      waiting.map(({ kind, record: recordId, note }) => ({ kind, recordId, id: note as string })),
    )
    let [pauseMs, why] = [0, '']
    waiting = waiting.filter((row, at) => {
      const result = results[at]
      if (result?.status === 'removed' || result?.status === 'gone') row.outcome = 'removed'
      else if (result?.status === 'rejected')
        Object.assign(row, { outcome: 'left', reason: result.reason, isNews: false })
      else {
        pauseMs = Math.max(pauseMs, result?.afterMs ?? 0)
        why = result?.reason ?? why
        return true
      }
      return false
    })
    if (waiting.length === 0) return
    if (pauseMs > longestPauseMs || tries === 5 || signal.aborted) {
      for (const row of waiting)
        Object.assign(row, { outcome: 'left', reason: `not removed yet: ${why}`, isNews: false })
      return
    }
    await pause(pauseMs, signal)
  }
}
