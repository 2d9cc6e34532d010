import { createHash } from 'node:crypto'
import { parseIsoTime } from '../values/iso-time.ts'

/** A value as the stamp hashes it, in one spelling for all the forms in which a CRM returns it. */
export type StampValue = string | number | boolean | null | undefined

/** The CRM may date our own write this much later than our stamp: network, its queue and the difference of clocks. */
export const stampSlackMs = 30_000

const prefix = 'paydirt'

/**
 * Returns the text that we write to `paydirt_source` with each write: which of the mapped properties were written, and a hash
 * of their values. `properties` are all that the mapping may write. A cleared one counts as blank.
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
 * Returns whether a record's last change was our own write: the values that the stamp covers are unchanged, and the record
 * was not changed after our stamp. A change by anyone else breaks one of the two. A doubtful record counts as changed: it is
 * planned again, from answers that are paid for already.
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

/** Folds what CRMs change on their own: they trim, fold case (e-mail, domain), reformat numbers and cut times to seconds. */
function normal(value: StampValue): string {
  const text = value === null || value === undefined ? '' : String(value).trim().toLowerCase()
  const atMs = text.length > 10 ? parseIsoTime(text) : undefined
  if (atMs !== undefined) return `at ${Math.floor(atMs / 1_000)}`
  return text !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : text
}
