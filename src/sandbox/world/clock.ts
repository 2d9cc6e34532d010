import { z } from 'zod'

const DAY_MS = 24 * 3600 * 1000

/** The time of the world. It runs until someone sets it, and stands still from then on. */
export interface WorldClock {
  now(): Date
  /** Stops at a moment; null lets the clock run again. */
  set(at: Date | null): void
  advance(ms: number): void
}

export function createWorldClock(): WorldClock {
  let stopped: Date | null = null
  const now = () => stopped ?? new Date()
  return {
    now,
    set: (at) => void (stopped = at),
    advance: (ms) => void (stopped = new Date(now().getTime() + ms)),
  }
}

const orderSchema = z.union([
  z.strictObject({ at: z.iso.datetime({ offset: true }).or(z.iso.date()).nullable() }),
  z.strictObject({ advanceDays: z.number().min(0).max(36_500) }),
])

/** Obeys `{"at": ISO}`, `{"at": null}` or `{"advanceDays": 7}`, and returns what the clock says then. */
export function controlClock(clock: WorldClock, order: unknown) {
  const read = orderSchema.parse(order)
  if ('at' in read) clock.set(read.at === null ? null : new Date(read.at))
  else clock.advance(read.advanceDays * DAY_MS)
  return { at: clock.now().toISOString() }
}

/** Returns the number of a day. */
export function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS)
}

/** Returns a day as `YYYY-MM-DD`. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Returns a moment of a day, as an ISO 8601 timestamp. */
export function momentOf(day: number, fraction: number): string {
  return new Date(day * DAY_MS + Math.floor(fraction * 86_399) * 1000).toISOString()
}
