import { ConfigError } from '../../domain/errors.ts'
import { stopText } from '../../store/runs/run-stops.ts'
import type { Run } from '../../store/runs/runs.ts'
import { parkedGroups, type ParkedGroup } from '../../store/views/desk-now.ts'
import { funnels } from '../../store/views/desk-runs.ts'
import { runOccurrence, type RunOccurrence } from '../../store/views/run-occurrence.ts'
import type { Context } from '../context/context.ts'
import { nextSteps } from './next-steps.ts'
import { summarise, type RunSummary } from './summary.ts'
import { undoneFields, type Undone } from '../../store/writes/undone-fields.ts'

/** A run as `paydirt runs RUN` shows it: its summary, where it comes from, how far it is, and what a person can do next. */
export interface RunDetail extends RunSummary {
  entity: string
  recipe: string
  /** Its origin: `csv`, `sync`, `apply`, `schedule`, `request` (a person at the desk), `button`, `workflow`, `monitor`. */
  trigger: string
  state: Run['state']
  startedAt: Date
  finishedAt: Date | null
  /** The file that it reads, for a run of one: its name and where it is. */
  file: string | null
  path: string | null
  /** The schedule that began it. */
  schedule: string | null
  /** The reason why it was stopped or failed, where that is known. */
  stateReason: string | null
  /** False while further records may be read. */
  scanned: boolean
  /** The number of records that reached each stage. */
  funnel: { read: number; lookedUp: number; matched: number; written: number; changed: number }
  /** The reasons why records wait, and until when; null: until a person acts. */
  waiting: ParkedGroup[]
  /** The part that was undone; null when all that it wrote stands. */
  undone: Undone | null
  next: string[]
}

type DetailContext = Pick<Context, 'database' | 'runs' | 'tasks'>

/** Throws ConfigError when there is no run of this id. */
export async function describeRun(context: DetailContext, id: string): Promise<RunDetail> {
  const { db } = context.database
  const run = await context.runs.get(id)
  if (!run || run.state === 'planned')
    throw new ConfigError('no_such_run', `there is no run ${id}; \`paydirt runs\` lists them`)
  const [summary, found, waiting, occurrence, stop, undoneRuns] = [
    await summarise(context, run),
    await funnels(db, [id]),
    await parkedGroups(db, id),
    await runOccurrence(db, id),
    await context.runs.stopOf(id),
    await undoneFields(db, [id]),
  ]
  const undone = undoneRuns.get(id) ?? null
  const funnel = found.get(id)
  return {
    ...summary,
    entity: run.entity,
    recipe: run.recipe,
    trigger: run.trigger,
    state: run.state,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    file: textOf(run.source['file']),
    path: textOf(run.source['path']),
    schedule: occurrence?.schedule ?? null,
    stateReason: stop ? stopText(stop) : reasonOf(run, occurrence),
    scanned: run.scannedAt !== null,
    funnel: {
      read: funnel?.records ?? 0,
      lookedUp: funnel?.asked ?? 0,
      matched: funnel?.matched ?? 0,
      written: funnel?.filled ?? 0,
      changed: funnel?.changed ?? 0,
    },
    waiting,
    undone,
    next: nextSteps({ run, summary, waiting, schedule: occurrence?.schedule ?? null, stop, undone }),
  }
}

function reasonOf({ state }: Run, occurrence: RunOccurrence | undefined): string | null {
  return state === 'stopped' || state === 'failed' ? (occurrence?.reason ?? null) : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
