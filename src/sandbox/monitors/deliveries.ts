import { setTimeout as delay } from 'node:timers/promises'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import { renameKeys } from '../http/rename-keys.ts'
import type { Delivery, Detection, DetectionLog, Signal } from './detections.ts'
import type { Monitor } from './monitor.ts'
import { postWebhook, type Outcome, type Webhook } from './post-webhook.ts'

interface DeliveryContext {
  faults: FaultSwitch
  log: DetectionLog
  now: () => Date
  /** The network's name in keys. */
  networkName: string
  stopped: AbortSignal
}

/** One body with where it goes. The bytes of every attempt are the same. */
interface Parcel {
  monitorId: string
  webhook: Webhook
  delivery: Delivery
  body: string
}

export type Deliveries = ReturnType<typeof createDeliveries>

/**
 * Sends what monitors detect. A detection is in the log before anything is sent, so the log knows also what an outage kept
 * back or lost. Attempts and time limit come from the fault switch (`deliveryRules`).
 */
export function createDeliveries({ faults, log, now, networkName, stopped }: DeliveryContext) {
  /** Kept back by a fault, in the order of their detection. */
  let waiting: Parcel[] = []

  function pack(monitor: Monitor, webhook: Webhook, detection: Detection): Parcel {
    const body = bodyOf(monitor, detection, now())
    return {
      monitorId: monitor.monitor_id,
      webhook,
      delivery: log.addDelivery(detection),
      body: JSON.stringify(renameKeys(body, networkName)),
    }
  }

  async function attempt({ webhook, delivery, body }: Parcel): Promise<Outcome> {
    const at = now()
    const { timeoutMs } = faults.current.deliveryRules
    const outcome = await postWebhook(webhook, { id: delivery.delivery_id, body, at }, { timeoutMs, stopped })
    log.note(delivery, at, outcome)
    return outcome
  }

  async function transmit(parcel: Parcel) {
    const { attempts, pauseMs } = faults.current.deliveryRules
    for (let left = attempts; left > 0 && !stopped.aborted; left -= 1) {
      if ((await attempt(parcel)).isAccepted) return
      if (left > 1) await pause(pauseMs)
    }
    if (parcel.delivery.status === 'pending') parcel.delivery.status = 'failed'
  }

  async function transmitAll(parcels: readonly Parcel[]) {
    for (const parcel of parcels) await transmit(parcel)
  }

  /** Takes what waits, of one monitor or of all, so that no other call sends it too. */
  function takeWaiting(monitorId?: string): Parcel[] {
    const taken = waiting.filter((each) => monitorId === undefined || each.monitorId === monitorId)
    waiting = waiting.filter((each) => !taken.includes(each))
    return taken
  }

  async function pause(ms: number) {
    await delay(ms, undefined, { signal: stopped }).catch(() => {})
  }

  async function deliver(monitor: Monitor, webhook: Webhook, detection: Detection) {
    const { monitor_id: id } = monitor
    const parcel = pack(monitor, webhook, detection)
    const outage = faults.strikes('deliveryOutage', id)
    if (outage?.lost) {
      log.note(parcel.delivery, now(), { isAccepted: false, status: null, body: null, error: 'outage' })
      parcel.delivery.status = 'failed'
      return
    }
    if (outage || faults.strikes('deliveryReorder', id)) return void waiting.push(parcel)

    // A later delivery may come and go while this one is delayed, so only what waits by now is sent after it.
    const late = faults.strikes('deliveryDelay', id)
    if (late) await pause(late.delayMs)
    await transmit(parcel)
    const repeat = faults.strikes('deliveryRepeat', id)
    for (let left = repeat?.times ?? 0; left > 0; left -= 1) {
      await transmit(repeat!.anew ? pack(monitor, webhook, detection) : parcel)
    }
    await transmitAll(takeWaiting(id))
  }

  return {
    /**
     * Logs what a monitor detected and sends it, hit by faults. Resolves when everything that this call sends was sent.
     * Only an active monitor detects anything: for any other it returns null.
     */
    async deliver(monitor: Monitor, signals: readonly Signal[]): Promise<Detection | null> {
      if (monitor.status !== 'active') return null
      const detection = log.add(monitor, signals, false)
      const webhook = webhookOf(monitor)
      if (webhook !== null) await deliver(monitor, webhook, detection)
      return detection
    },

    /** Sends a marked delivery once, in any state of the monitor. Returns null without a webhook. */
    async test(monitor: Monitor, signals: readonly Signal[]) {
      const webhook = webhookOf(monitor)
      if (webhook === null) return null
      const parcel = pack(monitor, webhook, log.add(monitor, signals, true))
      const outcome = await attempt(parcel)
      if (!outcome.isAccepted) parcel.delivery.status = 'failed'
      return { deliveryId: parcel.delivery.delivery_id, outcome }
    },

    /** Sends what faults kept back, the oldest first. Returns the number of deliveries. */
    async flush(): Promise<number> {
      const taken = takeWaiting()
      await transmitAll(taken)
      return taken.length
    },
  }
}

function webhookOf({ webhook_url: url, webhook_headers: headers }: Monitor): Webhook | null {
  return url === null ? null : { url, headers }
}

/** Returns the body of a delivery. Only `monitor`, `triggered_at` and the two lists are reported, not their content. */
function bodyOf(monitor: Monitor, { signals, companies, is_test: isTest }: Detection, at: Date) {
  const { monitor_id, name, detection_mode, signal_types } = monitor
  return {
    monitor: { monitor_id, name, detection_mode, signal_types },
    triggered_at: at.toISOString(),
    is_test: isTest,
    ...(signals ? { signals } : { companies }),
  }
}
