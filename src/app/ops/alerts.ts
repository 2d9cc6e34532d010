import { privateKeyToAccount } from 'viem/accounts'
import { foregroundSources } from '../../connectors/definitions.ts'
import { decideAlerts, type AlertState } from '../../domain/alerts.ts'
import { describeError } from '../../domain/errors.ts'
import { reportCondition } from '../../domain/signals/scheduled-report.ts'
import { createAlertLedger, type Delivery } from '../../store/messages/alerts.ts'
import { watchedMonitors } from '../../store/monitors/log-reads.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import { contractDrift } from '../service/contract-drift.ts'
import { sendAlert } from './alert-webhook.ts'
import type { Context } from '../context/context.ts'
import { reportMessage } from '../signals/reporting/report-message.ts'
import { reconcileAndSave } from '../money/save-reconciliation.ts'
import { moduleLog } from '../context/log.ts'

export interface Alerts {
  /** Checks all conditions, and logs the new ones. */
  look(): Promise<void>
  /** Sends the messages that are due and that the webhook has not accepted yet. */
  deliver(): Promise<void>
}

const leaseMs = 30_000
const longestPauseMs = 3_600_000

/**
 * Checks the ledger and the wallet once a minute. Reports conditions that began or ended to the log, and to the webhook until
 * it accepts them.
 */
export function startAlerts(context: Context): { stop(): Promise<void> } {
  const ending = new AbortController()
  const alerts = createAlerts(context, { signal: ending.signal })
  const onError = (error: unknown) => logError(context, error)
  const deliveries = startPollLoop({
    name: 'send alerts',
    work: () => alerts.deliver(),
    pauseMs: 5_000,
    onError,
  })
  const checks = startPollLoop({
    name: 'look for alerts',
    longestMs: 3_600_000,
    async work() {
      await alerts.look()
      deliveries.wake()
    },
    pauseMs: 60_000,
    onError,
  })
  return {
    async stop() {
      ending.abort()
      await Promise.all([checks.stop(), deliveries.stop()])
    },
  }
}

/** The ledger stores which conditions were reported, so that one of several processes reports each. */
export function createAlerts(context: Context, options: { signal: AbortSignal; restMs?: number }): Alerts {
  const { signal, restMs = 30_000 } = options
  const { config, log, now } = context
  const { rules, webhook } = config.alerts
  const foreground = foregroundSources()
  const ledger = createAlertLedger(context.database.db, { now })
  const wallet = config.walletKey === undefined ? undefined : privateKeyToAccount(config.walletKey).address

  async function look(): Promise<void> {
    await reconcileWhenDue().catch((error: unknown) => logError(context, error))
    const schedules = config.schedules.map(({ name }) => name)
    const state = {
      ...(await ledger.state({ schedules, foreground })),
      wallet: await readWallet(),
      contract: await readContract(),
      monitors: await readMonitors(),
    }
    const decision = decideAlerts(state, await ledger.active(), rules, now())
    const { raised, ended } = await ledger.apply(decision, { deliver: webhook !== undefined })
    for (const { condition, subject, severity, message } of raised)
      moduleLog(log, 'alerts')[severity === 'critical' ? 'error' : 'warn'](
        { alert: condition, subject },
        message,
      )
    for (const { condition, subject, endedMessage } of ended)
      moduleLog(log, 'alerts').warn({ alert: condition, subject, ended: true }, endedMessage ?? 'ended')
  }

  async function readContract(): Promise<AlertState['contract']> {
    try {
      return await contractDrift(context)
    } catch (error) {
      logError(context, error)
      return undefined
    }
  }

  async function readMonitors(): Promise<AlertState['monitors']> {
    const watched = await watchedMonitors(context.database.db, Object.keys(config.monitors))
    return watched.map((each) => ({ ...each, declared: config.monitors[each.name]?.status ?? 'active' }))
  }

  async function readWallet(): Promise<AlertState['wallet']> {
    if (wallet === undefined) return 'none'
    try {
      return { balanceAtomic: await context.chain.balanceOf(wallet) }
    } catch {
      return undefined
    }
  }

  async function reconcileWhenDue(): Promise<void> {
    const everyHours = config.alerts.reconcileEveryHours
    if (wallet === undefined || everyHours === 0) return
    const { reconciliation } = await ledger.state({ schedules: [], foreground })
    const lastMs = reconciliation === 'none' ? 0 : (reconciliation?.at.getTime() ?? 0)
    if (now().getTime() - lastMs >= everyHours * 3_600_000)
      await reconcileAndSave(context, wallet, { restMs, signal })
  }

  async function deliver(): Promise<void> {
    if (!webhook) return
    // One at a time: a lease is long enough for one try, not for twenty.
    for (;;) {
      const [delivery] = await ledger.lease(1, leaseMs)
      if (!delivery) return
      await send(webhook, delivery)
    }
  }

  async function send(to: NonNullable<typeof webhook>, delivery: Delivery): Promise<void> {
    try {
      const report =
        delivery.alert.condition === reportCondition
          ? await reportMessage(context, delivery.alert)
          : undefined
      await sendAlert(to, delivery, now(), report)
      // Crash window: accepted and not marked. It is sent again with the same id, by which the receiver recognises it.
      await ledger.delivered(delivery.id)
    } catch (error) {
      const problem = describeError(error)
      await ledger.failed(delivery.id, problem, nextTry(delivery, now()))
      moduleLog(log, 'alerts').warn(
        { alert: delivery.alert.condition, tries: delivery.tries, problem },
        'the webhook did not accept an alert',
      )
    }
  }

  return { look, deliver }
}

function logError({ log }: Context, error: unknown): void {
  moduleLog(log, 'alerts').warn({ problem: describeError(error) }, 'alerts met an error and continue')
}

/** Returns the time of the next try: after half a minute, doubling up to an hour, then every hour until it is accepted. */
function nextTry({ tries }: Delivery, at: Date): Date {
  return new Date(at.getTime() + Math.min(longestPauseMs, 30_000 * 2 ** (tries - 1)))
}

/** Returns the conditions that were reported and have not ended. */
export async function standingAlerts(
  context: Pick<Context, 'database' | 'now'>,
): Promise<{ name: string; message: string; since: Date }[]> {
  const standing = await createAlertLedger(context.database.db, { now: context.now }).active()
  return standing.map(({ condition, message, raisedAt }) => ({ name: condition, message, since: raisedAt }))
}
