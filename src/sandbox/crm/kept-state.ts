import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { deserialize, serialize } from 'node:v8'

/** Maps, sets and plain objects of values. A stand-in changes them in place. */
type Container = Map<unknown, unknown> | Set<unknown> | Record<string, unknown>

/**
 * Fills a stand-in's records with those of its last start, where a file has them. Returns what writes them when the stand-in
 * stops: a CRM that forgot what was written would look to the ledger as if a person had cleared it.
 */
export async function keepState(file: string, live: Record<string, unknown>): Promise<() => Promise<void>> {
  if (existsSync(file)) refill(live, deserialize(await readFile(file)) as Container)
  return async () => {
    await writeFile(`${file}.new`, serialize(live), { mode: 0o600 })
    await rename(`${file}.new`, file)
  }
}

/** Gives a container the contents of another one. Every holder sees them. */
function refill(target: Container, saved: Container): void {
  if (target instanceof Map) {
    target.clear()
    for (const [key, value] of saved as Map<unknown, unknown>) target.set(key, value)
  } else if (target instanceof Set) {
    target.clear()
    for (const value of saved as Set<unknown>) target.add(value)
  } else {
    for (const [key, value] of Object.entries(saved)) {
      const there = target[key]
      if (typeof there === 'object' && there !== null) refill(there as Container, value as Container)
      else target[key] = value
    }
  }
}
