import { z } from 'zod'
import type { Answer } from '../http/answer.ts'
import type { MonitorBook } from './book.ts'
import type { Deliveries } from './deliveries.ts'
import type { DetectionLog } from './detections.ts'

const signals = z.array(z.record(z.string(), z.unknown())).min(1).max(1_000)
const deliverSchema = z.strictObject({ monitor_id: z.string(), signals })

interface ControlledMonitors {
  book: MonitorBook
  log: DetectionLog
  deliveries: Deliveries
}

/**
 * Serves the control routes of monitors: `POST deliver {monitor_id, signals}` makes a monitor of any account detect the
 * signals, and answers when they were sent; `POST flush` sends what faults kept back; `GET detections?monitor_id=` lists
 * all, of deleted monitors too.
 */
export async function controlMonitors(
  { book, log, deliveries }: ControlledMonitors,
  order: string,
  url: URL,
  body: string | null,
): Promise<Answer> {
  switch (order) {
    case 'POST deliver': {
      const { monitor_id: id, signals } = deliverSchema.parse(JSON.parse(body ?? ''))
      const monitor = book.named(id)
      if (monitor === undefined) return { status: 404, body: { error: 'No such monitor' } }
      const detection = await deliveries.deliver(monitor, signals)
      if (detection !== null) return { status: 200, body: detection }
      return { status: 409, body: { error: `The monitor is ${monitor.status}; only an active one detects` } }
    }
    case 'POST flush':
      return { status: 200, body: { sent: await deliveries.flush() } }
    case 'GET detections':
      return { status: 200, body: log.of(url.searchParams.get('monitor_id') ?? '') }
    default:
      return { status: 404, body: { error: 'No such control' } }
  }
}
