import type { TaskResult } from '../runs/ready-tasks.ts'

/** The outcome of a task's intents. An intent that is in no list was never sent, and is forgotten. */
export interface TaskOutcome extends TaskResult {
  written: readonly string[]
  /** Fields that changed between our attempts, so that it is unknown whether our value was written. */
  unknown: readonly string[]
  /** Fields that were sent and that the CRM refused. */
  rejected?: readonly { field: string; code: string }[] | undefined
}
