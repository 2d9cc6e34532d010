import { createHash } from 'node:crypto'
import { wordsOf } from '../../../domain/notes/text.ts'
import type { NoteSnapshot, WrittenNote } from '../../noting.ts'
import type { HubspotEntity, HubspotObject } from '../api/wire.ts'
import { readAssociations } from '../associations.ts'
import { batchRead } from '../records.ts'
import type { NotingDeps } from './deps.ts'
import { bodyOf, objectOf, shownProperties, type NoteObject } from './kinds.ts'

/** Returns what a person can change of each note and task that is there, by its id. */
export async function snapshots(
  { api }: NotingDeps,
  entity: HubspotEntity,
  written: readonly WrittenNote[],
): Promise<Map<string, NoteSnapshot>> {
  const found = new Map<string, NoteSnapshot>()
  for (const [kind, group] of Map.groupBy(written, (each) => each.kind)) {
    const object = objectOf[kind]
    const ids = group.map(({ id }) => id)
    const there = await batchRead(api, object, ids, shownProperties[object])
    const ties = new Map([...there.keys()].map((id): [string, string[]] => [id, []]))
    // The right to contacts is needed for notes at all; that to another object only where its records have notes.
    for (const other of there.size > 0 ? new Set([entity, 'contacts']) : [])
      for (const [id, tied] of await readAssociations(api, object, other, [...there.keys()]))
        ties.get(id)?.push(...tied.map((each) => `${other}:${each.id}`))
    for (const [id, note] of there) found.set(id, snapshotOf(note, object, ties.get(id) ?? []))
  }
  return found
}

function snapshotOf({ properties }: HubspotObject, object: NoteObject, ties: string[]): NoteSnapshot {
  const text = JSON.stringify([
    properties['hs_task_subject'] ?? '',
    wordsOf(properties[bodyOf[object]] ?? ''),
  ])
  const isTask = object === 'tasks'
  const at = properties['hs_timestamp']
  return {
    text: createHash('sha256').update(text).digest('hex').slice(0, 32),
    owner: properties['hubspot_owner_id'] || null,
    status: isTask ? (properties['hs_task_status'] ?? null) : null,
    due: isTask && at ? new Date(/^\d+$/.test(at) ? Number(at) : at).toISOString() : null,
    ties: ties.toSorted(),
  }
}
