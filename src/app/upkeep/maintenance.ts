import { foregroundSources } from '../../connectors/definitions.ts'
import { describeError } from '../../domain/errors.ts'
import { createStatistics } from '../../store/database/analyse-tables.ts'
import { checkpointWhenLong } from '../../store/database/checkpoint.ts'
import { keepSmall } from '../../store/database/keep-small.ts'
import { afterPresses } from '../../store/database/go-first.ts'
import { vacuumTables } from '../../store/database/vacuum-tables.ts'
import { deleteOldMeasurements } from '../../store/measurements/measurements.ts'
import { adoptOrphans, updateRunStates } from '../../store/runs/run-states.ts'
import { indexNewTasks, indexTasks } from '../../store/search/index-tasks.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import { soonWhile } from '../../timing/soon-while.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { obeyOrders } from '../money/spend-switch.ts'
import { enforceRetention } from './retention.ts'
import { moduleLog } from '../context/log.ts'

type MaintenanceRole = 'worker' | 'scheduler'

const searchJob = 'make records searchable'

interface MaintenanceJob {
  name: string
  everyMs: number
  /** A process with one of these roles does the job, and a process with both does it once. */
  roles: readonly MaintenanceRole[]
  work: () => Promise<unknown>
  /** `work` returns the pause to the next round, where it differs from `everyMs`. */
  setsPause?: true
  /** Only where a round may take longer than ten minutes. */
  longestMs?: number
}

function maintenanceJobs(context: Context, engine: Pick<Engine, 'resolve'>): MaintenanceJob[] {
  const { database } = context
  const foreground = foregroundSources()
  const statistics = createStatistics(database.db)
  return [
    {
      name: 'obey an order to stop or resume spending',
      everyMs: 500,
      roles: ['worker', 'scheduler'],
      work: () => obeyOrders(context),
    },
    {
      name: 'resolve charges in doubt',
      everyMs: 60_000,
      roles: ['worker', 'scheduler'],
      work: () => engine.resolve(),
      // Asks the chain for each of them, which may be slow.
      longestMs: 21_600_000,
    },
    {
      name: 'refresh statistics',
      everyMs: 3_000,
      roles: ['worker'],
      work: afterPresses(() => statistics.refresh()),
    },
    {
      name: 'take a checkpoint',
      everyMs: 3_000,
      roles: ['worker'],
      work: afterPresses(() => checkpointWhenLong(database)),
    },
    {
      name: 'free the room of old row versions',
      everyMs: 5_000,
      roles: ['worker'],
      work: afterPresses(() => vacuumTables(database)),
    },
    {
      name: 'compress pages that rest',
      everyMs: compressMs,
      roles: ['worker'],
      work: () => compressPages(context),
      setsPause: true,
    },
    {
      name: searchJob,
      everyMs: 5_000,
      roles: ['worker'],
      // The night's records come as fast as this where people press without a pause.
      work: afterPresses(() => makeSearchable(context), 100),
      setsPause: true,
    },
    {
      name: 'erase what is older than its retention',
      everyMs: 3_600_000,
      roles: ['worker'],
      work: () => enforceRetention(context),
      longestMs: 21_600_000,
    },
    {
      name: 'delete old measurements',
      everyMs: 600_000,
      roles: ['worker'],
      work: () => deleteOldMeasurements(database.db, context.now()),
    },
    {
      name: 'update the states of runs',
      everyMs: 2_000,
      roles: ['scheduler'],
      work: runStates(context, foreground),
    },
  ]
}

/** As many as take the ledger twenty or thirty milliseconds. */
const searchPage = 100

/**
 * A ninth of the time: after a scan of 100,000 records it is at work for minutes, and would hold up whoever presses meanwhile. So some 400
 * records a second become searchable.
 */
const searchPauses = { leastMs: 100, times: 8 }

/** Makes a page of records searchable. A search makes those that are missing searchable itself. */
function makeSearchable({ database, config, now }: Context): Promise<number | undefined> {
  const options = { hosts: config.networkHosts, now, limit: searchPage }
  const isMore = async () => (await indexTasks(database.db, options)) >= searchPage
  return soonWhile(isMore, searchPauses)
}

const compressMs = 500

/** A worker that writes more than is compressed would need room for both. */
function compressPages({ database }: Context): Promise<number | undefined> {
  return soonWhile(async () => (await database.pages?.compress()) ?? false, { mostMs: compressMs })
}

/** In one transaction, while nobody waits for the ledger. */
const restPage = 1_000

/**
 * Makes all records searchable that are not yet, for the end of a command that has the embedded ledger and no desk: nobody can search
 * meanwhile, and a record that is read when it has ended is read once. What a signal or a kill leaves is found by the next
 * process that looks.
 */
export async function makeRestSearchable(
  { database, config, now }: Context,
  signal: AbortSignal,
): Promise<void> {
  const options = { hosts: config.networkHosts, now, limit: restPage }
  for (const index of [indexNewTasks, indexTasks])
    while (!signal.aborted && (await index(database.db, options)) >= restPage) await keepSmall(database)
}

/** Reads every lookup that an interrupted command left behind, so it is done more rarely than the rest of its job. */
const adoptEveryMs = 30_000

/**
 * Opens and closes the runs that `paydirt start` works on; src/store/runs/run-states.ts has the rules. Orphans are adopted
 * in the same job: both update lookups and tasks, and one after the other they cannot deadlock.
 */
function runStates({ database, log, now }: Context, foreground: readonly string[]): () => Promise<void> {
  let adoptAgainMs = 0
  return async () => {
    if (now().getTime() >= adoptAgainMs) {
      adoptAgainMs = now().getTime() + adoptEveryMs
      await adoptOrphans(database.db, now(), foreground)
    }
    const moves = await updateRunStates(database.db, now(), foreground)
    for (const { id, connector, entity, from, to } of moves)
      moduleLog(log, 'runs').info({ run: id, connector, entity, from, to }, 'a run changed its state')
  }
}

/**
 * Starts the timed jobs of these roles. A job that fails is logged and runs again at its next time. `searchableAtEnd`: the caller
 * makes records searchable itself.
 */
export async function startMaintenance(
  context: Context,
  roles: readonly MaintenanceRole[],
  { searchableAtEnd = false }: { searchableAtEnd?: boolean } = {},
): Promise<{ stop(): Promise<void> }> {
  const engine = await context.openEngine()
  const loops = maintenanceJobs(context, engine)
    .filter((job) => job.roles.some((role) => roles.includes(role)))
    .filter((job) => !searchableAtEnd || job.name !== searchJob)
    .map(({ name, everyMs, work, setsPause, longestMs }) =>
      startPollLoop({
        name,
        longestMs,
        work: async () => {
          const result = await work()
          return setsPause && typeof result === 'number' ? result : undefined
        },
        pauseMs: everyMs,
        onError: (error) =>
          moduleLog(context.log, 'runs').warn(
            { job: name, problem: describeError(error) },
            'a maintenance job failed this time',
          ),
      }),
    )
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}
