import { nameByMark } from './declared.ts'

interface MonitorId {
  monitorId: string
  name: string
}

/** The monitors that the settings and the ledger know. */
export interface KnownMonitors {
  /** The names in the settings. */
  declared: ReadonlySet<string>
  /** Those that stand at the service under these ids. */
  known: readonly MonitorId[]
  /** Ids of before: they were deleted or replaced. */
  former: readonly MonitorId[]
}

export type WhoseMonitor =
  /** One of the settings. */
  | { is: 'ours'; name: string }
  /** One of ours that was deleted, and not made again. */
  | { is: 'deleted'; name: string }
  /** Nothing here knows it. */
  | { is: 'unknown' }
  /** The delivery does not say, or the settings declare no monitors at all. */
  | { is: 'open' }

/**
 * Returns whose monitor a delivery names. The id decides; a name counts only by our mark, because a monitor that somebody made under the
 * same name is not ours. Pure.
 */
export function whoseMonitor(
  given: { id: string; name: string | null },
  { declared, known, former }: KnownMonitors,
): WhoseMonitor {
  const marked = nameByMark(given.name)
  const byId = given.id === '' ? undefined : known.find(({ monitorId }) => monitorId === given.id)
  if (byId) return { is: 'ours', name: byId.name }
  const before = given.id === '' ? undefined : former.find(({ monitorId }) => monitorId === given.id)
  if (before) {
    // Detections of a monitor before it was replaced belong to the one after it.
    const isReplaced = declared.has(before.name) && known.some(({ name }) => name === before.name)
    return { is: isReplaced ? 'ours' : 'deleted', name: before.name }
  }
  if (declared.size === 0) return { is: 'open' }
  // Crash window: made at the service, and its id not noted yet. A copy of a monitor whose id is known is not ours.
  const isNew = marked !== undefined && (given.id === '' || !known.some(({ name }) => name === marked))
  if (isNew && declared.has(marked)) return { is: 'ours', name: marked }
  return given.id === '' && given.name === null ? { is: 'open' } : { is: 'unknown' }
}
