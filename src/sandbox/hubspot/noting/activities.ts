import type { HubspotType } from '../properties.ts'

export type ActivityKind = 'notes' | 'tasks'

/** A note or task. */
export interface HubspotActivity {
  readonly id: string
  readonly kind: ActivityKind
  properties: Record<string, string>
  readonly createdAtMs: number
  modifiedAtMs: number
  archivedAtMs: number | undefined
  readonly ties: { readonly type: HubspotType; readonly id: string }[]
}

/** The account's notes and tasks: the API reads and writes them, and tests change them directly. */
export interface Activities {
  readonly all: Map<string, HubspotActivity>
  add(
    kind: ActivityKind,
    properties: Readonly<Record<string, string>>,
    ties: HubspotActivity['ties'],
  ): HubspotActivity
  /** Edits as a person does. An empty text clears. */
  edit(id: string, values: Readonly<Record<string, string>>): void
  archive(id: string): void
  /** Returns the ids of those that are tied to a record, without archived ones. */
  of(type: HubspotType, recordId: string, kind: ActivityKind): string[]
}

/**
 * `touch` dates a record anew: HubSpot counts notes and tasks in properties of the record ("Number of times contacted", "Last activity
 * date"), and each change of those is one of the record.
 */
export function createActivities(
  now: () => number,
  touch: (type: HubspotType, id: string) => void,
  currentId: (type: HubspotType, id: string) => string | undefined,
): Activities {
  const all = new Map<string, HubspotActivity>()
  const touchAll = ({ ties }: HubspotActivity): void => {
    for (const { type, id } of ties) touch(type, id)
  }
  const must = (id: string): HubspotActivity => {
    const found = all.get(id)
    if (!found) throw new Error(`no note or task ${id}`)
    return found
  }
  return {
    all,
    add(kind, properties, ties) {
      const at = now()
      // Ids of all kinds grow, and have more digits than a number of 32 bits.
      const id = String(70_099_999_990 + all.size * 3)
      const activity = {
        id,
        kind,
        properties: { ...properties },
        createdAtMs: at,
        modifiedAtMs: at,
        archivedAtMs: undefined,
        ties,
      }
      all.set(id, activity)
      touchAll(activity)
      return activity
    },
    edit(id, values) {
      const activity = must(id)
      for (const [name, value] of Object.entries(values))
        if (value === '') delete activity.properties[name]
        else activity.properties[name] = value
      activity.modifiedAtMs = now()
    },
    archive(id) {
      const activity = must(id)
      activity.archivedAtMs = now()
      touchAll(activity)
    },
    of: (type, recordId, kind) =>
      [...all.values()].flatMap((activity) =>
        activity.kind === kind &&
        activity.archivedAtMs === undefined &&
        activity.ties.some((tie) => tie.type === type && currentId(type, tie.id) === recordId)
          ? [activity.id]
          : [],
      ),
  }
}
