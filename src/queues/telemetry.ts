import type { QueueOptions } from 'bullmq'

export type QueueTelemetry = NonNullable<QueueOptions['telemetry']>

/** Opens BullMQ's own spans: adding a job, and each job's processing by a worker. */
export async function openQueueTelemetry(): Promise<QueueTelemetry> {
  const { BullMQOtel } = await import('bullmq-otel')
  return new BullMQOtel({ tracerName: 'paydirt.queues' })
}
