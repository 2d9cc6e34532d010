import { ConfigError } from '../../../domain/errors.ts'
import type { Environment } from '../environment.ts'

/** The standard variables that decide whether and where traces are sent. The SDK reads the others (headers, sampler, limits) itself. */
export interface TelemetryConfig {
  serviceName: string
  attributes: Record<string, string>
  /** Undefined: the standard address on this machine. */
  tracesUrl: string | undefined
}

/** Returns undefined unless OTEL_EXPORTER_OTLP_ENDPOINT, its variant for traces, or OTEL_TRACES_EXPORTER asks for traces. */
export function telemetryConfig(env: Environment): TelemetryConfig | undefined {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT
  const tracesUrl =
    env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
    (endpoint === undefined ? undefined : `${endpoint.replace(/\/+$/, '')}/v1/traces`)
  const exporter = env.OTEL_TRACES_EXPORTER ?? (tracesUrl === undefined ? 'none' : 'otlp')
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || exporter === 'none') return undefined
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL
  if (protocol === 'grpc') {
    throw new ConfigError(
      'bad_environment',
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json or http/protobuf: traces are sent over HTTP (as JSON)',
    )
  }
  const attributes = attributesOf(env.OTEL_RESOURCE_ATTRIBUTES ?? '')
  return {
    serviceName: env.OTEL_SERVICE_NAME ?? attributes['service.name'] ?? 'paydirt',
    attributes,
    tracesUrl,
  }
}

/** Parses `key=value,key=value` with percent-encoded values. */
function attributesOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', value] = pair.split('=').map((part) => part.trim())
      if (key === '' || value === undefined)
        throw new ConfigError('bad_environment', 'OTEL_RESOURCE_ATTRIBUTES is not key=value,key=value')
      return [key, decoded(value)]
    }),
  )
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw new ConfigError('bad_environment', 'OTEL_RESOURCE_ATTRIBUTES is not percent-encoded')
  }
}
