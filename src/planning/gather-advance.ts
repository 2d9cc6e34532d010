import type { LookupKey } from '../domain/keys.ts'
import { coalesceWhileBusy, coalesceWithin, type Gathering } from '../timing/coalesce.ts'
import type { Advance } from './advance.ts'

/** Long enough for the lookups whose answers were stored together. */
const usualMs = 20

/**
 * Moves the tasks of lookups that end at about the same time on together. With `gathering`, as on the embedded pair, a busy
 * process moves larger groups, and one that is idle waits for nothing: few lookups in flight are not held up.
 */
export function gatherAdvance(
  { advanceTasksWaitingFor }: Pick<Advance, 'advanceTasksWaitingFor'>,
  gathering: Gathering | undefined,
): (keys: readonly LookupKey[]) => Promise<void> {
  if (!gathering) return coalesceWithin(usualMs, advanceTasksWaitingFor)
  const advance = coalesceWhileBusy<LookupKey, void>(
    async (keys) => {
      await advanceTasksWaitingFor([...keys])
      return keys.map(() => ({ ok: undefined }))
    },
    (key) => key,
    { gathering },
  )
  return async (keys) => void (await Promise.all(keys.map((key) => advance(key))))
}
