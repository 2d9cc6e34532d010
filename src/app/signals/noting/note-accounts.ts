import type { Connector } from '../../../connectors/connector.ts'
import type { NoteDraft } from '../../../connectors/noting.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { markerOf } from '../../../domain/notes/marker.ts'
import { dayBefore, scoreChange, utcDay } from '../../../domain/signals/change.ts'
import {
  isTaskDue,
  newSignals,
  periodOf,
  signalLines,
  signalLinks,
} from '../../../domain/signals/note-texts.ts'
import { observedRecipeName } from '../../../domain/planning/recipes.ts'
import { reasonOf } from '../../../domain/signals/reason.ts'
import { scoreOf } from '../../../domain/signals/score.ts'
import { createNoteJournal, type KnownNote } from '../../../store/notes/note-journal.ts'
import { openNotesRun } from '../../../store/notes/notes-run.ts'
import type { SignalAccount } from '../../../store/signals/accounts.ts'
import { signalsOf } from '../../../store/signals/kept-signals.ts'
import { scoreHistory } from '../../../store/signals/score-days.ts'
import type { PipelineSettings } from '../../config/watching/signals.ts'
import type { Context } from '../../context/context.ts'
import { newRunId } from '../../context/new-id.ts'
import { writeNotes, type NoteOutcome } from '../../notes/write-notes.ts'
import type { ScoredPipeline } from '../reporting/scored-pipelines.ts'

/** The notes and tasks of one run of a pipeline. */
export interface NotedAccounts {
  /** The run whose undo takes them back. Undefined: there was nothing to write. */
  runId: string | undefined
  notes: number
  tasks: number
  /** Those that the CRM has not taken yet: the next run goes on with them. */
  waiting: number
  /** Those that the CRM did not take. */
  left: number
  problems: string[]
}

export interface NotingPipeline extends ScoredPipeline {
  name: string
  note: PipelineSettings['note']
  task: PipelineSettings['task']
}

export interface NotingTarget {
  connector: Connector
  entity: string
  /** The run that wrote fields of the same accounts: one undo takes both back. */
  runId: string | undefined
  signal: AbortSignal
}

const defaultEveryDays = 7
const pageSize = 500
/** The last note of an account is looked for in so many periods before: after a longer silence all that is new is told. */
const periodsBack = 8
const mostProblems = 5
const dayMs = 86_400_000

/**
 * Writes what is new of a pipeline's accounts into the CRM: one note an account and period with its new signals, never one a signal, and
 * one task for the owner where the rule of the pipeline is met. What is known is read from the ledger; nothing is bought.
 *
 * Crash windows: a note is known by pipeline, account and period, so that a repeat finds the one of the first attempt (the windows of
 * `writeNotes`). The next note tells what was seen since the last one was put down, not since it was written: nothing is told twice or left
 * out by a crash between both.
 */
export async function noteAccounts(
  context: Context,
  pipeline: NotingPipeline,
  accounts: readonly SignalAccount[],
  target: NotingTarget,
): Promise<NotedAccounts | undefined> {
  const { name, note, task } = pipeline
  if ((note === undefined || note === false) && task === undefined) return undefined
  const { connector, entity, signal } = target
  if (!connector.notes)
    throw new ConfigError(
      'takes_no_notes',
      `${connector.name} takes no notes and no tasks: leave note and task out of signals.${name}`,
    )
  const noted: NotedAccounts = {
    runId: target.runId,
    notes: 0,
    tasks: 0,
    waiting: 0,
    left: 0,
    problems: [],
  }
  const ours = accounts.filter((each) => each.connector === connector.name && each.entity === entity)
  for (let at = 0; at < ours.length && !signal.aborted; at += pageSize) {
    const drafts = await draftsFor(context, pipeline, ours.slice(at, at + pageSize), target)
    if (drafts.length > 0) noted.runId ??= await openRun(context, name, target)
    // Also without drafts: what an earlier run left over is written.
    const outcomes = await writeNotes(context, connector, drafts, { entity, runId: noted.runId ?? null })
    count(noted, outcomes)
  }
  return noted
}

function count(noted: NotedAccounts, outcomes: readonly NoteOutcome[]): void {
  for (const { kind, status, recordId, reason = '' } of outcomes) {
    if (status === 'written') noted[`${kind}s`] += 1
    if (status === 'waiting') noted.waiting += 1
    if (status !== 'left') continue
    noted.left += 1
    if (noted.problems.length < mostProblems) noted.problems.push(`${kind} of ${recordId}: ${reason}`)
  }
}

async function draftsFor(
  { database: { db }, now }: Context,
  { name, types, rules, note, task }: NotingPipeline,
  accounts: readonly SignalAccount[],
  { connector, entity }: NotingTarget,
): Promise<NoteDraft[]> {
  const at = now()
  const ids = accounts.map(({ id }) => id)
  const everyDays = typeof note === 'object' ? (note.everyDays ?? defaultEveryDays) : defaultEveryDays
  const today = utcDay(at)
  const signals = await signalsOf(db, ids)
  const history = await scoreHistory(db, name, ids, dayBefore(today, everyDays * (periodsBack + 1) + 7))
  const known = await lastNotes(
    (markers) => createNoteJournal(db, { now }).known({ connector: connector.name, entity }, markers),
    name,
    accounts,
    periodOf(at, everyDays),
  )
  return accounts.flatMap(({ id, recordId }): NoteDraft[] => {
    const watched = (signals.get(id) ?? []).filter(({ type }) => types.includes(type))
    const days = history.get(id) ?? []
    const { hundredths, addends } = scoreOf(watched, rules, at)
    const change = scoreChange(days, { day: today, hundredths })
    const score = scoreLine(hundredths, change, reasonOf(addends))
    const drafts: NoteDraft[] = []
    const noteOf = known(id, 'note')
    const told = newSignals(watched, { since: noteOf.last?.createdAt, at })
    if (note !== undefined && note !== false && !noteOf.isOfPeriod && told.length > 0)
      drafts.push({
        kind: 'note',
        marker: noteOf.marker,
        recordId,
        title: (typeof note === 'object' ? note.title : undefined) ?? `What is new (${name})`,
        body: `${signalLines(told).join('\n')}\n\n${score}`,
        links: signalLinks(told),
      })
    const taskOf = known(id, 'task')
    const last = taskOf.last && {
      at: taskOf.last.createdAt,
      lowestSince: Math.min(
        ...days.filter(({ day }) => day > utcDay(taskOf.last!.createdAt)).map((each) => each.hundredths),
      ),
    }
    if (task && !taskOf.isOfPeriod && isTaskDue(task.when, { hundredths, change, at }, last, everyDays)) {
      const strongest = addends.map((addend) => addend.signal)
      drafts.push({
        kind: 'task',
        marker: taskOf.marker,
        recordId,
        title: task.title,
        body: `${score}\n\n${signalLines(strongest.slice(0, 5)).join('\n')}`,
        links: signalLinks(strongest.slice(0, 5)),
        dueAt: new Date(at.getTime() + (task.dueDays ?? 0) * dayMs),
      })
    }
    return drafts
  })
}

function scoreLine(hundredths: number, change: number | null, reason: string | null): string {
  const moved = change === null ? '' : ` (${change > 0 ? '+' : ''}${change / 100} in 7 days)`
  return `Score ${hundredths / 100}${moved}${reason === null ? '' : `: ${reason}`}`
}

/** Returns how to ask, for an account, for the marker of this period and the last note or task of an earlier one. */
async function lastNotes(
  read: (markers: readonly string[]) => Promise<ReadonlyMap<string, KnownNote>>,
  name: string,
  accounts: readonly SignalAccount[],
  period: number,
) {
  const marker = (id: bigint, kind: 'note' | 'task', at: number): string =>
    markerOf('signals', name, String(id), kind, String(at))
  const periods = Array.from({ length: periodsBack + 1 }, (_, back) => period - back)
  const kinds = ['note', 'task'] as const
  const found = await read(
    accounts.flatMap(({ id }) => kinds.flatMap((kind) => periods.map((at) => marker(id, kind, at)))),
  )
  return (id: bigint, kind: 'note' | 'task') => {
    const [current, ...earlier] = periods.map((at) => found.get(marker(id, kind, at)))
    return {
      marker: marker(id, kind, period),
      // One that the CRM did not take is tried again.
      isOfPeriod: current !== undefined && current.state !== 'left',
      last: earlier.find((each) => each !== undefined && each.state !== 'left'),
    }
  }
}

async function openRun(
  context: Context,
  pipeline: string,
  { connector, entity }: NotingTarget,
): Promise<string> {
  const id = newRunId(context)
  const object = connector.entities[entity]
  if (object === undefined)
    throw new ConfigError('unknown_entity', `${connector.name} has no object ${entity}`)
  await openNotesRun(
    context.database.db,
    {
      id,
      connector: connector.name,
      object,
      entity,
      recipe: observedRecipeName,
      trigger: 'signals',
      source: { pipeline },
      fingerprint: `signals|${id}`,
    },
    context.now(),
  )
  return id
}
