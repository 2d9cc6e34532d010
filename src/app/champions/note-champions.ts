import type { NoteDraft } from '../../connectors/noting.ts'
import { ConfigError } from '../../domain/errors.ts'
import { markerOf } from '../../domain/notes/marker.ts'
import { observedRecipeName } from '../../domain/planning/recipes.ts'
import { utcDay } from '../../domain/signals/change.ts'
import type { CheckedChampion, KnownChampion } from '../../store/champions/champions.ts'
import { createNoteJournal } from '../../store/notes/note-journal.ts'
import { openNotesRun } from '../../store/notes/notes-run.ts'
import type { ChampionSettings } from '../config/watching/champions.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { writeNotes } from '../notes/write-notes.ts'
import type { LeaverTarget } from './write-leavers.ts'

/** Notes and tasks on the records of those who have left, and on those at their new employers. */
export interface NotedChampions {
  /** The run whose undo takes them back. Undefined: there was nothing to write, or the run that made the record has them. */
  runId: string | undefined
  notes: number
  tasks: number
  /** Those that the CRM has not taken yet: the next run goes on with them. */
  waiting: number
  problems: string[]
}

type Noting = Pick<NonNullable<ChampionSettings['onJoin']>, 'note' | 'task'>

/** A note or task that is wanted, and the run that it belongs to: the one that made its record, so that one undo takes both back. */
interface Wanted {
  draft: NoteDraft
  runId: string | undefined
}

const mostProblems = 5
const dayMs = 86_400_000

/**
 * Writes one note and one task a departure, and one each at the new employer, as declared. A repeat finds them by their markers, and
 * writes none.
 */
export async function noteChampions(
  context: Context,
  { onLeave = {}, onJoin = {} }: Pick<ChampionSettings, 'onLeave'> & { onJoin?: Noting | undefined },
  champions: readonly KnownChampion[],
  { connector, entity, watch, runId }: LeaverTarget & { runId: string | undefined },
): Promise<NotedChampions | undefined> {
  if (![onLeave, onJoin].some(({ note = false, task }) => note !== false || task !== undefined))
    return undefined
  if (!connector.notes)
    throw new ConfigError(
      'takes_no_notes',
      `${connector.name} takes no notes and no tasks: leave them out of champions.${watch}`,
    )
  const wanted = champions.flatMap((each): Wanted[] => [
    ...leaverDrafts(watch, each, onLeave).map((draft) => ({ draft, runId: undefined })),
    ...joinerDrafts(watch, each, onJoin).map((draft) => ({ draft, runId: each.joined?.runId })),
  ])
  const journal = createNoteJournal(context.database.db, context)
  const known = await journal.known(
    { connector: connector.name, entity },
    wanted.map(({ draft: { marker } }) => marker),
  )
  // One that the CRM did not take is tried again.
  const open = wanted.filter(({ draft: { marker } }) => (known.get(marker)?.state ?? 'left') === 'left')
  const noted: NotedChampions = { runId, notes: 0, tasks: 0, waiting: 0, problems: [] }
  const byRun = Map.groupBy(open, (each) => each.runId)
  if (byRun.has(undefined)) noted.runId ??= await openRun(context, watch, connector.name, entity)
  // Also without drafts: what an earlier run left over is written.
  if (byRun.size === 0) byRun.set(undefined, [])
  for (const [own, group] of byRun) {
    const drafts = group.map(({ draft }) => draft)
    const outcomes = await writeNotes(context, connector, drafts, {
      entity,
      runId: own ?? noted.runId ?? null,
    })
    for (const { kind, status, recordId, reason = '' } of outcomes) {
      if (status === 'written') noted[`${kind}s`] += 1
      if (status === 'waiting') noted.waiting += 1
      if (status === 'left' && noted.problems.length < mostProblems)
        noted.problems.push(`${kind} of ${recordId}: ${reason}`)
    }
  }
  return noted
}

function leaverDrafts(
  watch: string,
  { recordId, verdict, employer, leftAt }: CheckedChampion,
  noting: Noting,
): NoteDraft[] {
  if (leftAt === null) return []
  const day = utcDay(leftAt)
  const to = employer?.name ?? employer?.domain
  const role = employer?.title ? ` as ${employer.title}` : ''
  const body =
    to === undefined || to === null
      ? `Left the employer of this record, seen on ${day}. No new employer is known.`
      : `Left the employer of this record, seen on ${day}. Now at ${to}${role}.`
  const marker = (kind: string) => markerOf('champions', watch, recordId, day, kind)
  return draftsOf(noting, {
    recordId,
    body,
    at: leftAt,
    title: 'This person has left',
    // One who left, and is seen at a new employer later, has a note of each: it is what one looks for.
    noteMarker: marker(verdict === 'moved' ? 'note of the move' : 'note'),
    taskMarker: marker('task'),
  })
}

function joinerDrafts(
  watch: string,
  { recordId, known, leftAt, joined, connector, entity }: KnownChampion,
  noting: Noting,
): NoteDraft[] {
  if (leftAt === null || !joined) return []
  const day = utcDay(leftAt)
  const from = known.domain ?? 'an employer of before'
  const marker = (kind: string) => markerOf('champions', watch, recordId, day, kind)
  return draftsOf(noting, {
    recordId: joined.recordId,
    body: `Moved here from ${from}, seen on ${day}. The record there: ${connector}:${entity}:${recordId}.`,
    at: leftAt,
    title: 'A champion works here now',
    noteMarker: marker('note at the new employer'),
    taskMarker: marker('task at the new employer'),
  })
}

interface Told {
  recordId: string
  body: string
  at: Date
  title: string
  noteMarker: string
  taskMarker: string
}

function draftsOf({ note = false, task }: Noting, told: Told): NoteDraft[] {
  const { recordId, body, at, title, noteMarker, taskMarker } = told
  const shared = { recordId, body, links: [] }
  const own = typeof note === 'object' ? note.title : undefined
  return [
    ...(note === false
      ? []
      : [{ ...shared, kind: 'note' as const, marker: noteMarker, title: own ?? title }]),
    ...(task === undefined
      ? []
      : [
          {
            ...shared,
            kind: 'task' as const,
            marker: taskMarker,
            title: task.title,
            dueAt: new Date(at.getTime() + (task.dueDays ?? 0) * dayMs),
          },
        ]),
  ]
}

async function openRun(context: Context, watch: string, connector: string, entity: string): Promise<string> {
  const id = newRunId(context)
  const run = {
    id,
    connector,
    object: 'person' as const,
    entity,
    recipe: observedRecipeName,
    trigger: 'champions',
    source: { champions: watch },
    fingerprint: `champions|${id}`,
  }
  await openNotesRun(context.database.db, run, context.now())
  return id
}
