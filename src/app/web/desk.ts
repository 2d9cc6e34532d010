import { privateKeyToAccount } from 'viem/accounts'
import type { Hono } from 'hono'
import { capsOf, stepPrices } from '../../domain/planning/prices.ts'
import { describeError } from '../../domain/errors.ts'
import type { DeskAccess } from '../../http/desk/access/access.ts'
import type { DeskEnv } from '../../http/desk/access/gate.ts'
import { createPrompt, latestReading } from '../../http/desk/model/readings.ts'
import { allObjects, type DeskPorts, type PaceNow } from '../../http/desk/model/ports.ts'
import type { SyncPlansPort } from '../../http/desk/model/sync-plan.ts'
import { queueBoard } from '../../http/desk/routes/queue-board.ts'
import { deskRoutes } from '../../http/desk/index.ts'
import { createQueueBoard, type QueueBoard } from '../../queues/board.ts'
import { createAuditLog } from '../../store/access/audit.ts'
import { pingDatabase } from '../../store/database/database.ts'
import { createSessionLedger } from '../../store/access/sessions.ts'
import { standingAlerts } from '../ops/alerts.ts'
import { configuredCrms } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { createDeskContract } from './desk-contract.ts'
import { createDeskUndo } from './desk-undo.ts'
import { createDeskLists } from './lists/desk-lists.ts'
import { settingsSections } from './desk-settings.ts'
import { createRecordLinks } from './record-links.ts'
import type { Reads } from './reads.ts'
import { openSyncPlans } from './sync-plans.ts'
import { timelineOf } from './record-timeline.ts'
import { createDeskChampions } from './watching/desk-champions.ts'
import { createDeskMonitors } from './watching/desk-monitors.ts'
import { createDeskSignals } from './watching/desk-signals.ts'
import { reconcileAndSave } from '../money/save-reconciliation.ts'
import {
  listSchedules,
  pauseSchedule,
  resumeSchedule,
  runScheduleNow,
} from '../schedules/schedule-commands.ts'
import { setSpending } from '../money/spend-switch.ts'
import { moduleLog } from '../context/log.ts'

export interface Desk {
  /** To be mounted at the root. */
  app: Hono<DeskEnv>
  /** The desk refuses every request, because other machines can reach it and no sign-in is configured. */
  isClosed: boolean
  close(): Promise<void>
}

export interface DeskOverrides {
  access: DeskAccess
  reads?: Reads
  /** Fires when the server stops. */
  signal: AbortSignal
  onDenied?: (kind: string) => void
}

export async function openDesk(
  context: Context,
  { access, reads, signal, onDenied }: DeskOverrides,
): Promise<Desk> {
  const { config, database, log, now, spendSwitch } = context
  const { db } = database
  const engine = await context.openEngine()
  const board = createQueueBoard(engine.redis.redis, {
    prefix: config.redisPrefix,
    onError: (error) => moduleLog(log, 'web').debug({ message: error.message }, 'queue board'),
  })
  const plans = openSyncPlans(context, signal)
  const audit = createAuditLog(db, { now })
  const undo = createDeskUndo(context, signal)
  const lists = createDeskLists(context, signal)
  const signals = createDeskSignals(context, signal)
  const monitors = createDeskMonitors(context, signal)
  const champions = createDeskChampions(context, signal)
  const { idleMs, lifetimeMs } = config.desk
  const app = deskRoutes({
    db,
    reads: config.reads && reads,
    now,
    access,
    sessions: createSessionLedger(db, { now, idleMs, lifetimeMs }),
    audit,
    spendSwitch,
    caps: { ...config.caps, prices: stepPrices(config.prices, capsOf(config.policy)) },
    links: createRecordLinks(config, engine),
    ports: { ...deskPorts(context, engine, board, plans, signal), undo, lists, signals, monitors, champions },
    pingStore: database.kind === 'postgres' ? () => pingDatabase(db) : undefined,
    pingRedis: () => engine.redis.redis.ping(),
    board: queueBoard(board),
    signal,
    onError: (error) =>
      moduleLog(log, 'web').warn({ problem: describeError(error) }, 'the desk met an error'),
    onDenied,
  })
  return {
    app,
    isClosed: access.mode === 'closed',
    async close() {
      await plans.idle()
      // The signal has fired: an undo at work ends after its batch, and its records are marked.
      await undo.idle()
      await lists.idle()
      await signals.idle()
      await monitors.idle()
      await champions.idle()
      await board.close()
    },
  }
}

const walletFreshMs = 20_000
const redisPatienceMs = 900
/** A difference between ledger and chain that lasts for so long is not a payment in progress. */
const settleMs = 3_000

function deskPorts(
  context: Context,
  engine: Engine,
  board: QueueBoard,
  plans: SyncPlansPort,
  signal: AbortSignal,
): DeskPorts {
  const { config, chain } = context
  const address = config.walletKey && privateKeyToAccount(config.walletKey).address
  const balance = latestReading(async () => address && (await chain.balanceOf(address)), {
    freshMs: walletFreshMs,
    patienceMs: 1_500,
  })
  // Its client keeps what it cannot send, and would wait for ever: the page must not.
  const pace = createPrompt(() => engine.pacer.snapshot(), redisPatienceMs)
  const depths = createPrompt(() => board.depths(), redisPatienceMs)
  return {
    syncable: () =>
      configuredCrms(config).map((connector) => ({
        connector,
        entities: Object.keys(context.connectors.get(connector)?.entities ?? {}),
      })),
    plans,
    stopSpending: (reason) => context.spendSwitch.stop(reason),
    resumeSpending: () => setSpending(context, 'resume'),
    wallet: async () => (address ? { address, balanceAtomic: await balance() } : undefined),
    pace: () => pace().catch((): PaceNow | undefined => undefined),
    queues: () => depths().catch(() => []),
    timeline: (name) => timelineOf(context, name),
    settings: () => settingsSections(context),
    reconcile: address && (() => compare(address)),
    alerts: () => standingAlerts(context),
    contract: createDeskContract(context),
    schedules: {
      async list() {
        return (await listSchedules(context)).map((schedule) => ({
          name: schedule.name,
          connector: schedule.connector,
          entity: schedule.object ?? allObjects,
          list: schedule.list,
          signals: schedule.signals,
          champions: schedule.champions,
          report: schedule.signalsReport,
          when: `${schedule.cron} ${schedule.timeZone}`,
          timeZone: schedule.timeZone,
          window: windowOf(schedule),
          isPaused: schedule.isPaused,
          nextAt: schedule.nextAt ?? undefined,
          next: schedule.next,
          recipe: schedule.recipe,
          limit: schedule.limit,
          openRuns: schedule.last.flatMap(({ runId, runState }) =>
            runId !== null && (runState === 'scanning' || runState === 'working') ? [runId] : [],
          ),
          lastRuns: schedule.last.flatMap(({ runId }) => runId ?? []),
          failed: schedule.last.flatMap(({ entity, state, reason }) =>
            state === 'failed' ? [{ entity, reason: reason ?? 'no reason is known' }] : [],
          ),
          lastAt: schedule.last.map(({ changedAt }) => changedAt).sort((a, b) => +b - +a)[0],
        }))
      },
      pause: (name, by) => pauseSchedule(context, name, by),
      resume: (name) => resumeSchedule(context, name),
      runNow: (name) => runScheduleNow(context, name),
    },
  }

  function windowOf({
    startNoLaterThan,
    stopAt,
    timeZone,
  }: {
    startNoLaterThan?: string | undefined
    stopAt?: string | undefined
    timeZone: string
  }) {
    const parts = [
      ...(startNoLaterThan === undefined ? [] : [`starts by ${startNoLaterThan} ${timeZone}`]),
      ...(stopAt === undefined ? [] : [`stops at ${stopAt} ${timeZone}`]),
    ]
    return parts.length > 0 ? parts.join(', ') : undefined
  }

  async function compare(wallet: string) {
    const { differences, difference } = await reconcileAndSave(context, wallet, { restMs: settleMs, signal })
    return { differences: differences.length, difference }
  }
}
