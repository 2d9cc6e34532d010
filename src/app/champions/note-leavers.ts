import type { NoteDraft } from '../../connectors/noting.ts'
import { ConfigError } from '../../domain/errors.ts'
import { markerOf } from '../../domain/notes/marker.ts'
import { observedRecipeName } from '../../domain/planning/recipes.ts'
import { utcDay } from '../../domain/signals/change.ts'
import type { CheckedChampion } from '../../store/champions/champions.ts'
import { createNoteJournal } from '../../store/notes/note-journal.ts'
import { openNotesRun } from '../../store/notes/notes-run.ts'
import type { ChampionSettings } from '../config/watching/champions.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { writeNotes } from '../notes/write-notes.ts'
import type { LeaverTarget } from './write-leavers.ts'

/** Notes and tasks on the records of those who have left. */
export interface NotedLeavers {
  /** The run whose undo takes them back. Undefined: there was nothing to write. */
  runId: string | undefined
  notes: number
  tasks: number
  /** Those that the CRM has not taken yet: the next run goes on with them. */
  waiting: number
  problems: string[]
}

const mostProblems = 5
const dayMs = 86_400_000

/** Writes one note and one task a departure, as declared. A repeat finds them by their markers, and writes none. */
export async function noteLeavers(
  context: Context,
  onLeave: ChampionSettings['onLeave'],
  champions: readonly CheckedChampion[],
  { connector, entity, watch, runId }: LeaverTarget & { runId: string | undefined },
): Promise<NotedLeavers | undefined> {
  const { note = false, task } = onLeave ?? {}
  if (note === false && task === undefined) return undefined
  if (!connector.notes)
    throw new ConfigError(
      'takes_no_notes',
      `${connector.name} takes no notes and no tasks: leave onLeave out of champions.${watch}`,
    )
  const wanted = champions.flatMap((each) => draftsOf(watch, each, { note, task }))
  const journal = createNoteJournal(context.database.db, context)
  const known = await journal.known(
    { connector: connector.name, entity },
    wanted.map(({ marker }) => marker),
  )
  // One that the CRM did not take is tried again.
  const drafts = wanted.filter(({ marker }) => (known.get(marker)?.state ?? 'left') === 'left')
  const noted: NotedLeavers = { runId, notes: 0, tasks: 0, waiting: 0, problems: [] }
  if (drafts.length > 0 && noted.runId === undefined)
    noted.runId = await openRun(context, watch, connector.name, entity)
  // Also without drafts: what an earlier run left over is written.
  const outcomes = await writeNotes(context, connector, drafts, { entity, runId: noted.runId ?? null })
  for (const { kind, status, recordId, reason = '' } of outcomes) {
    if (status === 'written') noted[`${kind}s`] += 1
    if (status === 'waiting') noted.waiting += 1
    if (status === 'left' && noted.problems.length < mostProblems)
      noted.problems.push(`${kind} of ${recordId}: ${reason}`)
  }
  return noted
}

function draftsOf(
  watch: string,
  { recordId, verdict, employer, leftAt }: CheckedChampion,
  { note, task }: NonNullable<ChampionSettings['onLeave']>,
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
  const shared = { recordId, body, links: [] }
  return [
    ...(note === undefined || note === false
      ? []
      : [
          {
            ...shared,
            kind: 'note' as const,
            // One who left, and is seen at a new employer later, has a note of each: it is what one looks for.
            marker: marker(verdict === 'moved' ? 'note of the move' : 'note'),
            title: (typeof note === 'object' ? note.title : undefined) ?? 'This person has left',
          },
        ]),
    ...(task === undefined
      ? []
      : [
          {
            ...shared,
            kind: 'task' as const,
            marker: marker('task'),
            title: task.title,
            dueAt: new Date(leftAt.getTime() + (task.dueDays ?? 0) * dayMs),
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
