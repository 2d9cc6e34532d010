import { formatUsd } from '../../domain/money.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Context } from '../context/context.ts'

/** A run as `paydirt runs` lists it. Scripts rely on its form. */
export interface ListedRun {
  runId: string
  connector: string
  object: string
  /** The name of the file, for a run of one. */
  file: string | undefined
  state: Run['state']
  records: number
  startedAt: Date
  finishedAt: Date | null
  settled: string
}

/** Returns the latest runs first. */
export async function listRuns({ runs }: Pick<Context, 'runs'>, limit: number): Promise<ListedRun[]> {
  const listed: ListedRun[] = []
  for (const { id, connector, object, source, state, records, startedAt, finishedAt } of await runs.list(
    limit,
  )) {
    listed.push({
      runId: id,
      connector,
      object,
      file: typeof source['file'] === 'string' ? source['file'] : undefined,
      state,
      records,
      startedAt,
      finishedAt,
      settled: formatUsd(await runs.spent(id)),
    })
  }
  return listed
}
