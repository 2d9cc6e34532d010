import { formatUsd } from '../../domain/money.ts'
import { purseNamed } from '../config/watching/purses.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Context } from '../context/context.ts'
import { madeCounts, type MadeCounts } from '../../store/views/list-results.ts'
import { undoneFields, type Undone } from '../../store/writes/undone-fields.ts'

/** A run as `paydirt runs` lists it. Scripts rely on its form. */
export interface ListedRun {
  runId: string
  connector: string
  object: string
  /** The object as the CRM names it. */
  entity: string
  /** The name of the file, for a run of one. */
  file: string | undefined
  /** The list that it works for. */
  list: string | undefined
  /** The pipeline of signals that it works for. */
  signals: string | undefined
  /** The watch of champions that it works for. */
  champions: string | undefined
  state: Run['state']
  records: number
  /** The records that it made of a list, for a run that makes records. */
  made: MadeCounts | undefined
  startedAt: Date
  finishedAt: Date | null
  settled: string
  /** The credits that direct access charged, when it charged any. */
  credits: string | undefined
  /** The part that was undone; null when all that it wrote stands. */
  undone: Undone | null
}

/** Returns the latest runs first. */
export async function listRuns(
  { runs, database }: Pick<Context, 'runs' | 'database'>,
  limit: number,
): Promise<ListedRun[]> {
  const listed: ListedRun[] = []
  const latest = await runs.list(limit)
  const ids = latest.map(({ id }) => id)
  const undone = await undoneFields(database.db, ids)
  const made = await madeCounts(database.db, ids)
  for (const { id, connector, object, entity, source, state, records, startedAt, finishedAt } of latest) {
    const { settledAtomic, creditsAtomic } = await runs.spent(id)
    listed.push({
      runId: id,
      connector,
      object,
      entity,
      file: typeof source['file'] === 'string' ? source['file'] : undefined,
      ...watchedBy(source),
      state,
      records,
      made: made.get(id),
      startedAt,
      finishedAt,
      settled: formatUsd(settledAtomic),
      credits: creditsAtomic > 0n ? formatUsd(creditsAtomic) : undefined,
      undone: undone.get(id) ?? null,
    })
  }
  return listed
}

function watchedBy(source: Run['source']): Pick<ListedRun, 'list' | 'signals' | 'champions'> {
  const text = (key: string) => (typeof source[key] === 'string' ? source[key] : undefined)
  const list = text('list')
  const own = { list, signals: text('pipeline'), champions: text('champions') }
  if (list === undefined) return own
  // Purchases for pipelines and champions are counted as those for lists are.
  const { kind, name } = purseNamed(list)
  return { ...own, list: undefined, [kind]: name }
}
