import type { LookupKey } from '../../src/domain/keys.ts'
import type { NewTask } from '../../src/store/runs/tasks.ts'

/** Returns a task as a scan stores it: unless another status is given, one that waits for its lookup. */
export function scannedTask(
  ordinal: number,
  lookupKey: LookupKey | null,
  given: Partial<NewTask> = {},
): NewTask {
  const { status = 'looking_up' } = given
  return {
    ordinal,
    recordId: String(ordinal),
    identity: {},
    status,
    lookupKey,
    duplicateOf: null,
    waitingFor: status === 'looking_up' || status === 'parked' ? lookupKey : null,
    reason: null,
    ...given,
  }
}
