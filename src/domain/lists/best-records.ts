import type { FieldValue } from '../record.ts'

interface Ranked<T> {
  item: T
  /** The value of the property by which the best are taken. */
  by: FieldValue | undefined
}

/** Holds the best of many records, in memory for so many alone. */
export interface BestRecords<T> {
  add(record: Ranked<T>): void
  /** The best first; of equal ones the earlier. Those whose value is no number and no time are not among them. */
  best(): T[]
  /** The records that have a value to compare, and all of them. */
  counts(): { compared: number; all: number }
}

/** Returns a holder of the records with the largest number, or the latest time. Without a property the first ones. Pure in memory. */
export function bestRecords<T>(top: number, hasProperty: boolean): BestRecords<T> {
  let held: { item: T; size: number; at: number }[] = []
  let [compared, all] = [0, 0]
  const cut = () => {
    held.sort((a, b) => b.size - a.size || a.at - b.at)
    held = held.slice(0, top)
  }
  return {
    add({ item, by }) {
      all += 1
      const size = hasProperty ? sizeOf(by) : 0
      if (size === undefined) return
      compared += 1
      held.push({ item, size, at: all })
      if (held.length >= 2 * top + 100) cut()
    },
    best() {
      cut()
      return held.map(({ item }) => item)
    },
    counts: () => ({ compared, all }),
  }
}

/** CRMs hand out numbers as texts, and times as texts of digits or of ISO 8601. */
function sizeOf(value: FieldValue | undefined): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  if (Number.isFinite(number)) return number
  const time = /^\d{4}-\d{2}-\d{2}/.test(value.trim()) ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}
