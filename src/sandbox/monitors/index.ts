import type { Account } from '../accounts.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { Holdings } from '../http/account.ts'
import type { Answer } from '../http/answer.ts'
import type { DirectEndpoint } from '../http/direct.ts'
import { withFaults } from './action.ts'
import { createMonitorBook } from './book.ts'
import { controlMonitors } from './control.ts'
import { createDeliveries } from './deliveries.ts'
import { createDetectionLog, type Detection, type Signal } from './detections.ts'
import { monitorEndpoints } from './endpoints.ts'
import { createTemplates } from './templates.ts'
import { detectedBetween } from './watch.ts'
import type { World } from '../world/world.ts'

interface MonitorOptions {
  faults: FaultSwitch
  now: () => Date
  /** The network's name in keys. */
  networkName: string
}

export interface Monitors {
  endpoints: DirectEndpoint[]
  holdings(account: Account): Holdings
  /** Answers an order of the control routes, such as `POST deliver`. */
  control(order: string, url: URL, body: string | null): Promise<Answer>
  /**
   * Logs what a monitor detected and sends it to its webhook, hit by the faults of deliveries. Returns null for a monitor
   * that is not active. Throws for an unknown one.
   */
  deliver(monitorId: string, signals: readonly Signal[]): Promise<Detection | null>
  /**
   * Has every active monitor detect what happened in the world between two moments of its clock. Resolves with the number of detections
   * when all of them were sent. They are dated as deliveries are, by the clock of this machine; each signal has its time in the world.
   */
  watch(world: Pick<World, 'today'>, from: Date, to: Date): Promise<number>
  /** Ends what is delayed. */
  stop(): void
}

/** The monitors and channel templates of one sandbox, kept in memory. */
export function createMonitors({ faults, now, networkName }: MonitorOptions): Monitors {
  const stopping = new AbortController()
  const stopped = stopping.signal
  const book = createMonitorBook(now)
  const log = createDetectionLog(now)
  const deliveries = createDeliveries({ faults, log, now, networkName, stopped })
  const monitors = monitorEndpoints({ book, log, deliveries, faults, now, stopped })
  const templates = createTemplates({ faults, now })
  const actions = [...monitors.actions, ...templates.actions]

  return {
    endpoints: [
      ...monitors.read,
      ...templates.read,
      ...actions.map((action) => withFaults(action, faults, stopped)),
    ],
    holdings: (account) => ({
      monitors: book.of(account).length,
      channelTemplates: templates.count(account),
    }),
    control: (order, url, body) => controlMonitors({ book, log, deliveries }, order, url, body),
    async deliver(monitorId, signals) {
      const monitor = book.named(monitorId)
      if (monitor === undefined) throw new Error(`no monitor ${monitorId}`)
      return deliveries.deliver(monitor, signals)
    },
    async watch(world, from, to) {
      let detections = 0
      for (const monitor of book.all()) {
        if (monitor.status !== 'active') continue
        for (const signals of detectedBetween(world, monitor, from, to))
          if ((await deliveries.deliver(monitor, signals)) !== null) detections += 1
      }
      return detections
    },
    stop: () => stopping.abort(),
  }
}
