/** The costs of a night in one measure: a fixed part, and a part for each lookup. */
export interface Line {
  once: number
  each: number
}

export interface Point {
  lookups: number
  total: number
}

/** Returns the line through two measured nights of different size. */
export function lineThrough(small: Point, large: Point): Line {
  const each = (large.total - small.total) / (large.lookups - small.lookups)
  return { each, once: small.total - each * small.lookups }
}

export function predict({ once, each }: Line, lookups: number): number {
  return once + each * lookups
}

/** How far a prediction is from what was measured, as a share of it: 0.1 is a tenth too much. */
export function errorOf(predicted: number, measured: number): number {
  return predicted / measured - 1
}

/** The resources of which each lookup takes a part. */
export interface Costs {
  workerMs: number
  postgresMs: number
  redisMs: number
  walBytes: number
  keptBytes: number
  redisCommands: number
}

/** Returns the share of each resource that a rate takes, and the time and room that a billion records need. */
export function needsAt(perSecond: number, costs: Costs) {
  return {
    'lookups a second': perSecond,
    'cores, workers': (perSecond * costs.workerMs) / 1_000,
    'cores, Postgres': (perSecond * costs.postgresMs) / 1_000,
    'of the one Redis thread': (perSecond * costs.redisMs) / 1_000,
    'Redis commands a second': perSecond * costs.redisCommands,
    'WAL, MB a second': (perSecond * costs.walBytes) / 1e6,
    'days for a billion': 1e9 / perSecond / 86_400,
    'TB for a billion': (1e9 * costs.keptBytes) / 1e12,
  }
}
