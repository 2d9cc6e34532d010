import { context, propagation, SpanKind, trace, type Attributes, type Context } from '@opentelemetry/api'
import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace-node'
import type { TelemetryConfig } from '../config/observing/telemetry.ts'
import { version } from '../config/version.ts'

export interface Telemetry {
  /** Sends the remaining spans, for up to five seconds. */
  stop(): Promise<void>
}

/**
 * Starts tracing for this process. The SDK is loaded only now. The code that does the work makes its spans through the API
 * alone, which does nothing until this was called.
 */
export async function startTelemetry(config: TelemetryConfig): Promise<Telemetry> {
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  const exporter = new OTLPTraceExporter(config.tracesUrl === undefined ? {} : { url: config.tracesUrl })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      ...config.attributes,
      'service.name': config.serviceName,
      'service.version': version,
    }),
    spanProcessors: [guarded(new BatchSpanProcessor(exporter))],
  })
  provider.register()
  return {
    async stop() {
      trace.disable()
      context.disable()
      propagation.disable()
      // An unreachable collector must not keep the process from ending.
      await withinFiveSeconds(provider.shutdown())
    },
  }
}

/**
 * The attributes that may be sent. Ours never name a record, but texts of errors, results and options of jobs come from other
 * code, so every attribute that is not listed here is removed.
 */
const allowed = new Set([
  'bullmq.queue.name',
  'bullmq.queue.operation',
  'bullmq.job.bulk.count',
  'bullmq.job.bulk.names',
  'bullmq.job.name',
  // A digest, or the name of a schedule or an occurrence: see queues/jobs.ts and queues/schedules.ts.
  'bullmq.job.id',
  'bullmq.job.attempts.made',
  'bullmq.job.scheduler.id',
  'bullmq.job.attempt_finished_timestamp',
  'bullmq.job.processed.timestamp',
  'bullmq.worker.id',
  'bullmq.worker.name',
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'server.address',
  'server.port',
  'url.scheme',
  'url.template',
  'db.system.name',
  'db.operation.name',
  'db.query.text',
  'error.type',
  'exception.type',
])

/** Drops the spans of idle polling, which have no parent, and removes attributes that are not allowed from the rest. */
function guarded(inner: SpanProcessor): SpanProcessor {
  return {
    onStart: (span: Span, parent: Context) => inner.onStart(span, parent),
    onEnd(span: ReadableSpan) {
      if (span.kind === SpanKind.INTERNAL && span.parentSpanContext === undefined) return
      clean(span.attributes)
      for (const event of span.events) if (event.attributes) clean(event.attributes)
      for (const link of span.links) if (link.attributes) clean(link.attributes)
      delete span.status.message
      inner.onEnd(span)
    },
    forceFlush: () => inner.forceFlush(),
    shutdown: () => inner.shutdown(),
  }
}

function clean(attributes: Attributes): void {
  for (const name of Object.keys(attributes)) if (!allowed.has(name)) delete attributes[name]
}

async function withinFiveSeconds(end: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 5_000)
  })
  await Promise.race([end.catch(() => {}), late])
  clearTimeout(timer)
}
