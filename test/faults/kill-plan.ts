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

/** Sends the signal when a process reaches `point` for the `nth` time. Default: SIGKILL. */
export interface KillPlan {
  point: Point
  nth: number
  signal?: 'SIGKILL' | 'SIGSTOP'
}

/** The order for a worker process, passed as JSON in its one argument. */
export interface WorkerOrder {
  /** `reconcile`: the pass of `paydirt reconcile` over open charges. */
  task: 'run' | 'reconcile'
  env: Record<string, string>
  /** The content of `paydirt.config.ts`. */
  file: Record<string, unknown>
  input: string
  out: string
  /** Shorter than the configuration allows, so that an authorization expires within a test's time. */
  authorizationSeconds?: number | undefined
  /** This process's clock runs ahead by this much. */
  clockAheadMs: number
  kill?: KillPlan | undefined
}
