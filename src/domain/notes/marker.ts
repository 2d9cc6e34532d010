import { createHash } from 'node:crypto'

/**
 * Returns the marker of a note or task: the same parts give the same one. It tells nothing of them, because everybody who may read the
 * record reads it.
 */
export function markerOf(...parts: readonly string[]): string {
  return `paydirt-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)}`
}

const form = /\bpaydirt-[0-9a-f]{24}\b/g

/** Returns the markers in a text of a CRM. */
export function markersIn(text: string): string[] {
  return [...text.matchAll(form)].map(([marker]) => marker)
}
