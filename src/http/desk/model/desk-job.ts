/** An action that an operator has started on the desk, and that runs in the background. */
export interface DeskJob<Kind extends string = string> {
  kind: Kind
  by: string
  startedAt: Date
  progress: string
  /** Undefined while it is at work. */
  ended: { text: string; isDone: boolean; runId?: string | undefined } | undefined
}

/** Called with the figures of a job when it has ended, for the audit log. */
export type OnJobEnd = (figures: Record<string, number | string>) => Promise<void>
