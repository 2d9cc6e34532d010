import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { LogEvent } from 'kysely'

const tracer = trace.getTracer('paydirt.store')
const longestText = 2_000

/**
 * Adds a span for each statement that is part of a trace. The polling rounds are part of none. The text has placeholders in
 * place of values, and the parameters are not recorded.
 */
export function traceQuery(event: LogEvent): void {
  if (!trace.getActiveSpan()?.isRecording()) return
  const text = event.query.sql
  const operation = /[a-z]+/i.exec(text)?.[0].toUpperCase() ?? 'SQL'
  const endedMs = Date.now()
  const span = tracer.startSpan(operation, {
    kind: SpanKind.CLIENT,
    startTime: endedMs - event.queryDurationMillis,
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.text': text.slice(0, longestText),
    },
  })
  if (event.level === 'error') {
    span.setAttribute('error.type', String((event.error as { code?: unknown }).code ?? 'unknown'))
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end(endedMs)
}
