import type { Contract } from '../catalogue/catalogue.ts'

/** Returns the body of one request with the service's own names of its keys. */
export function onTheWire(
  { wireNames }: Contract,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [wireNames[name] ?? name, value]))
}

/** Returns the body of a batch with the service's own names: of what is sent once, and of the keys of each entry. */
export function batchOnTheWire(
  contract: Contract,
  { peoples, ...shared }: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // Some batches list ids, and no entries with keys.
  const entryOnTheWire = (entry: unknown) =>
    typeof entry === 'object' && entry !== null ? onTheWire(contract, { ...entry }) : entry
  const entries = Array.isArray(peoples) ? peoples.map(entryOnTheWire) : peoples
  return onTheWire(contract, { peoples: entries, ...shared })
}
