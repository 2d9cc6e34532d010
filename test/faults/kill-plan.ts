/** The crash windows of a charge, in the order in which a lookup passes them. */
export const points = [
  'before-journal',
  'after-journal',
  'before-send',
  'after-send',
  'after-settlement-before-answer',
  'after-answer-before-store',
  'after-store',
] as const
export type Point = (typeof points)[number]

/** At the `nth` time that a process comes to `point`, it gets the signal. SIGKILL is the default. */
export interface KillPlan {
  point: Point
  nth: number
  signal?: 'SIGKILL' | 'SIGSTOP'
}

/** What a worker process is told in its one argument, as JSON. */
export interface WorkerOrder {
  /** `reconcile`: the pass over open charges that `paydirt reconcile` makes. */
  task: 'run' | 'reconcile'
  env: Record<string, string>
  /** What stands in `paydirt.config.ts`. */
  file: Record<string, unknown>
  input: string
  out: string
  /** Shorter than the configuration allows, so that an expiry comes within a test's time. */
  authorizationSeconds?: number
  /** How far this process's clock runs ahead. */
  clockAheadMs: number
  kill?: KillPlan
}
