import type { Connector } from '../../connectors/connector.ts'
import { runsOfPlans } from '../../store/matches/runs-of-plans.ts'
import { createMatches } from '../../store/matches/matches.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Context } from '../context/context.ts'
import { undoNotes, type UndoneNotes } from '../notes/undo-notes.ts'
import { makesRecords, undoMade, type UndoneRecords } from './undo-made.ts'
import { undoRun, type Undone } from './undo.ts'

/** A match, taken back: its parts in the order in which they were. Scripts rely on its form. */
export interface UndoneMatch {
  kind: 'match'
  runId: string
  monitor: string
  plan: boolean
  /** Its note and task, which are taken back first. Absent: it has none. */
  notes?: UndoneNotes
  /** The result of each of its runs. Fields of records that were made are not put back: the records go. */
  runs: (Undone | UndoneRecords)[]
  /** The reason why the undo ended early. The same call continues it. */
  unfinished?: string | undefined
}

/** True for the run of a match. */
export function isOfMatch({ trigger, source }: Pick<Run, 'trigger' | 'source'>): boolean {
  return trigger === 'monitor' && typeof source['match'] === 'string'
}

/**
 * Takes back what one match has done: note and task first, since a record with a note is in use, then the people, so that nobody is tied to the company any more, then the fields that were
 * written into a company that existed, or the company that was made. Each of its runs is undone by the rules of its kind. A part that
 * ends early ends the undo; the same call goes on.
 */
export async function undoMatch(
  context: Pick<Context, 'database' | 'fieldWrites' | 'now' | 'recordIndex' | 'runs'>,
  connector: Connector,
  run: Run,
  options: { plan: boolean; signal: AbortSignal },
): Promise<UndoneMatch> {
  const match = await createMatches(context.database.db, context).get(run.id)
  const undone: UndoneMatch = {
    kind: 'match',
    runId: run.id,
    monitor: String(run.source['match']),
    plan: options.plan,
    runs: [],
  }
  const notes = await undoNotes(context, connector, run.id, options)
  if (notes) undone.notes = notes
  if (notes?.unfinished !== undefined) return { ...undone, unfinished: notes.unfinished }
  if (!match) return undone
  for (const id of await runsOfPlans(
    context.database.db,
    [match.plans.people, match.plans.company].filter((id) => id !== undefined),
  )) {
    const part = await context.runs.get(id)
    if (!part) continue
    // In a plan the people are still there, and tied to the company.
    const before = options.plan ? undone.runs.at(-1) : undefined
    const people = before && 'archived' in before && before.entity !== part.entity ? before : undefined
    const done = makesRecords(part)
      ? await undoMade(context, connector, part, { ...options, notes, people })
      : await undoRun(context, connector, part, options)
    undone.runs.push(done)
    if (done.unfinished !== undefined) return { ...undone, unfinished: done.unfinished }
  }
  return undone
}
