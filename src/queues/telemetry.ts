import type { QueueOptions } from 'bullmq'

export type QueueTelemetry = NonNullable<QueueOptions['telemetry']>

/** BullMQ's own spans: what is added, and each job's way through a worker. */
export async function openQueueTelemetry(): Promise<QueueTelemetry> {
  const { BullMQOtel } = await import('bullmq-otel')
  return new BullMQOtel({ tracerName: 'paydirt.queues' })
}
