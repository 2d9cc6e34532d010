import { wholeAnswer } from '../catalogue/entry.ts'

/** Returns the value at a dotted path of a JSON value, `$` being the value itself; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let reached = value
  for (const name of path === '' || path === wholeAnswer ? [] : path.split('.')) {
    if (typeof reached !== 'object' || reached === null || Array.isArray(reached)) return undefined
    reached = Object.hasOwn(reached, name) ? (reached as Record<string, unknown>)[name] : undefined
  }
  return reached
}
