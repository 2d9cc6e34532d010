import { SpanKind, TelemetryAttributes, type QueueOptions } from 'bullmq'

export type QueueTelemetry = NonNullable<QueueOptions['telemetry']>

/** Opens BullMQ's own spans: adding a job, and each job's processing by a worker. */
export async function openQueueTelemetry(): Promise<QueueTelemetry> {
  const { BullMQOtel } = await import('bullmq-otel')
  return new BullMQOtel({ tracerName: 'paydirt.queues' })
}

/** Runs the work on one lookup of a block in a trace of its own, as BullMQ does with a job. */
export function inOwnTrace<Result>(
  telemetry: QueueTelemetry | undefined,
  { queue, id }: { queue: string; id: string },
  work: () => Promise<Result>,
): Promise<Result> {
  if (!telemetry) return work()
  const { tracer, contextManager } = telemetry
  const outside = contextManager.root?.() ?? contextManager.active()
  const span = tracer.startSpan(`process ${queue}`, { kind: SpanKind.CONSUMER }, outside)
  span.setAttributes({
    [TelemetryAttributes.QueueName]: queue,
    [TelemetryAttributes.QueueOperation]: 'process',
    [TelemetryAttributes.JobId]: id,
  })
  const traced = async () => {
    try {
      return await work()
    } catch (error) {
      span.recordException(error as Error)
      throw error
    } finally {
      span.end()
    }
  }
  return contextManager.with(span.setSpanOnContext(outside), traced)
}
