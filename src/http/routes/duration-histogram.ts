import type { Metric, Registry } from 'prom-client'
import { durationBounds } from '../../domain/measuring/durations.ts'

/** Durations that were counted by bound, for one combination of labels. */
export interface CountedDurations {
  labels: Record<string, string>
  /** In seconds. */
  sum: number
  /** By bound; the last one counts what is beyond the last bound. */
  buckets: readonly number[]
}

/** Registers a histogram of durations that others have counted: the library's own knows only those that it observes itself. */
export function durationHistogram(
  registry: Registry,
  name: string,
  help: string,
  counted: readonly CountedDurations[],
): void {
  const values = counted.flatMap(({ labels, sum, buckets }) => {
    let total = 0
    const cumulative = durationBounds.map((bound, index) => {
      total += buckets[index] ?? 0
      return { labels: { ...labels, le: bound }, value: total, metricName: `${name}_bucket` }
    })
    const count = buckets.reduce((all, each) => all + each, 0)
    return [
      ...cumulative,
      { labels: { ...labels, le: '+Inf' }, value: count, metricName: `${name}_bucket` },
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ]
  })
  // A registry asks its metrics for nothing but this.
  const metric = { name, get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values }) }
  registry.registerMetric(metric as unknown as Metric)
}
