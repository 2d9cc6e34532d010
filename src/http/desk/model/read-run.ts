import { taskStatuses, type TaskStatus } from '../../../domain/words.ts'
import type { Database } from '../../../store/database/database.ts'
import type { LiveRun } from '../../../store/views/desk-now.ts'
import {
  funnels,
  runHead,
  runLive,
  runReasons,
  runRecords,
  type Funnel,
  type RunHead,
  type RunReason,
  type RunRecord,
} from '../../../store/views/desk-runs.ts'
import { undoneFields, type Undone } from '../../../store/writes/undone-fields.ts'
import type { StepPrice } from '../../../domain/planning/prices.ts'
import { readRunChoices, readRunControl, readWaits, type RunChoices, type RunControl } from './run-control.ts'

/** The records of a run that its page lists. */
export interface RecordsPlace {
  after: number
  before: number | undefined
  status: TaskStatus | undefined
}

interface ReadRunOptions {
  now: Date
  /** The connectors whose runs the workers carry out. */
  connectors: readonly string[]
  place: RecordsPlace
  prices: readonly StepPrice[]
}

/** Everything that the page of a run shows, as it was at one moment. */
export interface RunReading {
  run: RunHead
  live: LiveRun
  funnel: Funnel
  reasons: RunReason[]
  records: RunRecord[]
  /** The start of the next page of records; undefined on the last page. */
  nextAfter: number | undefined
  /** The end of the page before this one; undefined on the first page. */
  previousBefore: number | undefined
  status: TaskStatus | undefined
  undone: Undone | undefined
  control: RunControl
  choices: RunChoices
}

const recordsPerPage = 25

/**
 * Reads a run at one moment, so that no two amounts of its page disagree: all statements see one snapshot. Returns undefined
 * when there is no such run.
 */
export function readRun(db: Database, id: string, options: ReadRunOptions): Promise<RunReading | undefined> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute((tx) => readIn(tx, id, options))
}

async function readIn(
  db: Database,
  id: string,
  { now, connectors, place, prices }: ReadRunOptions,
): Promise<RunReading | undefined> {
  const [run, live] = [await runHead(db, id), await runLive(db, id, now)]
  const funnel = (await funnels(db, [id])).get(id)
  if (!run || !live || !funnel) return undefined
  const { after, before, status } = place
  const found = await runRecords(db, id, { after, before, limit: recordsPerPage + 1, status })
  const isMore = found.length > recordsPerPage
  const records = before !== undefined && isMore ? found.slice(1) : found.slice(0, recordsPerPage)
  const [first, last] = [records[0]?.ordinal, records.at(-1)?.ordinal]
  return {
    run,
    live,
    funnel,
    reasons: await runReasons(db, id),
    records,
    nextAfter: before !== undefined || isMore ? last : undefined,
    previousBefore: (before !== undefined ? isMore : after > 0) ? first : undefined,
    status,
    undone: (await undoneFields(db, [id])).get(id),
    control: {
      ...(await readRunControl(db, run)),
      // The question before a resume names it.
      waits: run.state === 'stopped' ? await readWaits(db, id, prices) : undefined,
    },
    choices: await readRunChoices(db, run, { written: funnel.filled, connectors }),
  }
}

/** Returns the place that the query of an address names. */
export function placeOf(query: (name: string) => string | null | undefined): RecordsPlace {
  const [status, before] = [query('status'), query('before')]
  return {
    after: numberOf(query('after')),
    before: typeof before === 'string' ? numberOf(before) : undefined,
    status: taskStatuses.find((each) => each === status),
  }
}

function numberOf(text: string | null | undefined): number {
  return typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : 0
}
