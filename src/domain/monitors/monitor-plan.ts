import { markedName, nameByMark, type DeclaredMonitor } from './declared.ts'

type Fields = Readonly<Record<string, unknown>>

/** One field that differs. Values of secrets are never shown. */
interface FieldChange {
  field: string
  declared: unknown
  shown: unknown
}

export type MonitorStep =
  | { do: 'create'; name: string; fields: Fields }
  | { do: 'update' | 'pause'; name: string; id: string; fields: Fields; changes: FieldChange[] }
  /** It has another detection_mode, which cannot change: a new one is made, and then this one deleted. */
  | { do: 'replace'; name: string; id: string; fields: Fields; changes: FieldChange[] }
  /** It bears our mark, and the settings do not name it, or it is the one before a replacement (`isCopy`). */
  | { do: 'delete'; name: string; id: string; isCopy: boolean }
  | { do: 'nothing'; name: string; id: string }
  /** Several monitors bear the mark: a person decides which stays. */
  | { do: 'decide'; name: string; ids: string[] }

/** The monitors that the ledger knows as ours, by name in the settings. */
export type KnownIds = ReadonlyMap<string, string>

/**
 * Returns the steps from the monitors of the service to those of the settings, field by field. A field that the settings do not name is
 * left as it is; one that the service does not show cannot be compared. Monitors without our mark that the ledger does not know are
 * never touched. Pure.
 */
export function planMonitors(
  declared: readonly DeclaredMonitor[],
  shown: readonly { id: string; fields: Fields }[],
  known: KnownIds,
  differing: (sent: Fields, monitor: Fields) => string[],
): MonitorStep[] {
  const ours = Map.groupBy(
    shown.flatMap((monitor) => {
      const byLedger = [...known].find(([, id]) => id === monitor.id)?.[0]
      const name = byLedger ?? nameByMark(monitor.fields['name'])
      return name === undefined ? [] : [{ ...monitor, name }]
    }),
    ({ name }) => name,
  )
  const copies: MonitorStep[] = []
  const steps = declared.map((monitor): MonitorStep => {
    const { name } = monitor
    const fields: Fields = { name: markedName(name), ...monitor.fields }
    const marked = ours.get(name) ?? []
    const found = marked.find(({ id }) => id === known.get(name)) ?? marked[0]
    if (!found) return { do: 'create', name, fields }
    if (marked.length > 1 && found.id !== known.get(name))
      return { do: 'decide', name, ids: marked.map(({ id }) => id) }
    for (const { id } of marked) if (id !== found.id) copies.push({ do: 'delete', name, id, isCopy: true })
    const changes = differing(fields, found.fields).map((field) => ({
      field,
      declared: visible(field, fields[field]),
      shown: visible(field, found.fields[field]),
    }))
    const { id } = found
    if (changes.length === 0) return { do: 'nothing', name, id }
    if (changes.some(({ field }) => field === 'detection_mode'))
      return { do: 'replace', name, id, fields, changes }
    const changed = Object.fromEntries(changes.map(({ field }) => [field, fields[field]]))
    const pauses = changes.length === 1 && changed['status'] === 'paused'
    return { do: pauses ? 'pause' : 'update', name, id, fields: changed, changes }
  })
  const names = new Set(declared.map(({ name }) => name))
  const gone = [...ours].flatMap(([name, monitors]): MonitorStep[] =>
    names.has(name) ? [] : monitors.map(({ id }) => ({ do: 'delete', name, id, isCopy: false })),
  )
  return [...steps, ...copies, ...gone]
}

/** Names of headers are shown, and never a value: it is the password of the webhook. */
function visible(field: string, value: unknown): unknown {
  if (field !== 'webhook_headers' || typeof value !== 'object' || value === null) return value ?? null
  return Object.keys(value).map((name) => name.toLowerCase())
}

/** True where something at the service is not as the settings say. */
export function hasDrift(steps: readonly MonitorStep[]): boolean {
  return steps.some((step) => step.do !== 'nothing')
}
