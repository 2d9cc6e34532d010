import type { RecordSnapshot } from '../../connectors/creating.ts'
import type { UndoneNotes } from '../notes/undo-notes.ts'

/** Returns the state of records as if the notes were gone that the same undo would remove: in a plan they are still there. */
export function withoutNotes(
  snapshots: ReadonlyMap<string, RecordSnapshot>,
  entity: string,
  notes: UndoneNotes | undefined,
): Map<string, RecordSnapshot> {
  const going = notes?.rows.filter((row) => row.outcome === 'would_remove' && row.entity === entity) ?? []
  const byRecord = Map.groupBy(going, ({ record }) => record)
  return new Map(
    [...snapshots].map(([id, { properties, tied }]) => {
      const left = { ...tied }
      // Snapshots of both CRMs count them as `notes` and `tasks`.
      for (const { kind } of byRecord.get(id) ?? []) {
        const count = (left[`${kind}s`] ?? 0) - 1
        if (count > 0) left[`${kind}s`] = count
        else delete left[`${kind}s`]
      }
      return [id, { properties, tied: left }]
    }),
  )
}

/** Returns what others have changed of a record that we made. `ourStamp`: a note of ours dates it anew, and no person does. */
export function touched(
  before: RecordSnapshot,
  now: RecordSnapshot,
  { isWritten, ourStamp }: { isWritten: boolean; ourStamp: string | undefined },
): string | undefined {
  if (isWritten) return 'a later run of ours wrote into it'
  const changed = [...new Set([...Object.keys(before.properties), ...Object.keys(now.properties)])].filter(
    (name) => name !== ourStamp && before.properties[name] !== now.properties[name],
  )
  if (changed.length > 0) return `changed since: ${changed.sort().join(', ')}`
  const tied = Object.entries(now.tied).filter(([kind, count]) => count > (before.tied[kind] ?? 0))
  return tied.length > 0
    ? `tied since to ${tied.map(([kind, count]) => `${count - (before.tied[kind] ?? 0)} ${kind}`).join(', ')}`
    : undefined
}
