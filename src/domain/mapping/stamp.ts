import { createHash } from 'node:crypto'

/** What a value is in the stamp, however the CRM writes it back: trimmed text, numbers and booleans in one spelling. */
export type StampValue = string | number | boolean | null | undefined

/** How much later than our stamp the CRM may date our own write: the way there, its queue and the difference of clocks. */
export const stampSlackMs = 30_000

const prefix = 'paydirt'

/**
 * The text that we leave in `paydirt_source` with each write: which of the mapped properties were written, and a hash of
 * what was written into them. `properties` are all that the mapping may write; a cleared one counts as blank.
 *
 * @example writeStamp(['city', 'name'], { city: 'Lyon' }) // 'paydirt:1:5f0c…'
 */
export function writeStamp(
  properties: readonly string[],
  written: Readonly<Record<string, StampValue>>,
): string {
  const names = sorted(properties)
  const mask = names.reduce((bits, name, at) => (name in written ? bits | (1n << BigInt(at)) : bits), 0n)
  return `${prefix}:${mask.toString(16)}:${digest(
    names.filter((name) => name in written),
    written,
  )}`
}

/**
 * Whether a record's last change was our own write: what the stamp says we wrote stands there unchanged, and the record
 * was not changed later than our stamp. A change by another hand breaks the one or the other. When in doubt it is not
 * ours: the record is then looked at again, from answers that are paid already.
 */
export function isOwnWrite(record: {
  properties: readonly string[]
  values: Readonly<Record<string, StampValue>>
  source: string | null | undefined
  enrichedAtMs: number | undefined
  modifiedAtMs: number | undefined
}): boolean {
  const { source, enrichedAtMs, modifiedAtMs } = record
  if (!source || enrichedAtMs === undefined || modifiedAtMs === undefined) return false
  if (!(modifiedAtMs <= enrichedAtMs + stampSlackMs)) return false
  const [word, mask, hash] = source.split(':')
  if (word !== prefix || !mask || !/^[0-9a-f]+$/.test(mask)) return false
  const bits = BigInt(`0x${mask}`)
  const names = sorted(record.properties).filter((_, at) => (bits >> BigInt(at)) & 1n)
  return hash === digest(names, record.values)
}

function sorted(properties: readonly string[]): string[] {
  return [...new Set(properties)].sort()
}

function digest(names: readonly string[], values: Readonly<Record<string, StampValue>>): string {
  const pairs = names.map((name) => [name, normal(values[name])])
  return createHash('sha256').update(JSON.stringify(pairs)).digest('hex').slice(0, 16)
}

/** CRMs trim, fold case (e-mail, domain) and reformat numbers on the way in: that alone is no change. */
function normal(value: StampValue): string {
  const text = value === null || value === undefined ? '' : String(value).trim().toLowerCase()
  return text !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : text
}
