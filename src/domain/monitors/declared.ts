/** The words of `status` (the description shows all four). */
export const monitorStatuses = ['draft', 'active', 'paused', 'inactive'] as const

type Fields = Readonly<Record<string, unknown>>

/** A monitor of the settings, in the service's own fields. `webhook_headers` holds a secret. */
export interface DeclaredMonitor {
  name: string
  fields: Fields
}

const mark = / \[paydirt ([a-z0-9][a-z0-9-]{0,39})\]$/

/**
 * Returns the name of a declared monitor at the service. The mark in it finds the monitor again when the ledger is lost, and after a
 * crash; a monitor without one is nobody's of ours.
 */
export function markedName(name: string): string {
  return `${name} [paydirt ${name}]`
}

/** Returns the name in the settings of a monitor of ours. Undefined: it has no mark. */
export function nameByMark(shown: unknown): string | undefined {
  return typeof shown === 'string' ? mark.exec(shown.trim())?.[1] : undefined
}
