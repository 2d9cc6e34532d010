import type { LookupKey } from '../domain/keys.ts'
import { coalesceWhileBusy, type Gathering } from '../timing/coalesce.ts'
import type { Advance } from './advance.ts'

/**
 * Moves the tasks of lookups that end at about the same time on together. A busy process moves large groups, and one that is idle
 * waits for nothing: few lookups in flight are not held up.
 */
export function gatherAdvance(
  { advanceTasksWaitingFor }: Pick<Advance, 'advanceTasksWaitingFor'>,
  gathering: Gathering,
): (keys: readonly LookupKey[]) => Promise<void> {
  const advance = coalesceWhileBusy<LookupKey, void>(
    async (keys) => {
      await advanceTasksWaitingFor([...keys])
      return keys.map(() => ({ ok: undefined }))
    },
    (key) => key,
    { isUrgent: () => false, gathering },
  )
  return async (keys) => void (await Promise.all(keys.map((key) => advance(key))))
}
