import { randomUUID } from 'node:crypto'
import type { Monitor } from './monitor.ts'
import type { Outcome } from './post-webhook.ts'

/** A signal as it is delivered. The shape is not shown; those of the sandbox name their company by `domain`. */
export type Signal = Record<string, unknown>

/** One body that goes to a webhook, with every attempt to bring it there. */
export interface Delivery {
  delivery_id: string
  status: 'pending' | 'delivered' | 'failed'
  attempts: { attempted_at: string; upstream_status: number | null; error: string | null }[]
}

/** One finding of a monitor, whether it reached anybody or not. */
export interface Detection {
  detection_log_id: string
  monitor_id: string
  detected_at: string
  /** True for one that `test processing` made. */
  is_test: boolean
  /** One of the two, by the monitor's mode. */
  signals?: Signal[]
  companies?: Signal[]
  signal_count: number
  company_count: number
  /** Empty for a monitor without a webhook. */
  deliveries: Delivery[]
}

export type DetectionLog = ReturnType<typeof createDetectionLog>

export function createDetectionLog(now: () => Date) {
  const held = new Map<string, Detection[]>()

  return {
    /** Returns the detections of a monitor, the newest first. */
    of: (monitorId: string): Detection[] => [...(held.get(monitorId) ?? [])].reverse(),
    add(monitor: Monitor, signals: readonly Signal[], isTest: boolean): Detection {
      const companies = companiesOf(signals)
      const detection: Detection = {
        detection_log_id: randomUUID(),
        monitor_id: monitor.monitor_id,
        detected_at: now().toISOString(),
        is_test: isTest,
        ...(monitor.detection_mode === 'signal_first' ? { signals: [...signals] } : { companies }),
        signal_count: signals.length,
        company_count: companies.length,
        deliveries: [],
      }
      held.set(monitor.monitor_id, [...(held.get(monitor.monitor_id) ?? []), detection])
      return detection
    },
    addDelivery(detection: Detection): Delivery {
      const delivery: Delivery = { delivery_id: randomUUID(), status: 'pending', attempts: [] }
      detection.deliveries.push(delivery)
      return delivery
    },
    note(delivery: Delivery, at: Date, { isAccepted, status, error }: Outcome) {
      delivery.attempts.push({ attempted_at: at.toISOString(), upstream_status: status, error })
      // One repetition that fails does not take back what has arrived.
      if (isAccepted) delivery.status = 'delivered'
    },
  }
}

/** Returns the companies of signals, each once with its own signals. */
function companiesOf(signals: readonly Signal[]): Signal[] {
  const names = ['domain_search_id', 'domain', 'profnet_url', 'company_name']
  const groups = Map.groupBy(signals, (signal) =>
    String(names.map((name) => signal[name]).find((value) => typeof value === 'string') ?? ''),
  )
  return [...groups.values()].map((group) => ({
    ...Object.fromEntries(
      names.flatMap((name) => (group[0]![name] === undefined ? [] : [[name, group[0]![name]]])),
    ),
    signals: group,
  }))
}
