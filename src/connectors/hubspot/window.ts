import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import type { Watermark } from '../connector.ts'

/**
 * Where a scan stands.
 *
 * `load` walks the list of all records, a page after a page. Then `next` waits until another scan opens a `window`: all
 * records changed from `fromMs` to `toMs`, in the order of their ids, behind `lastId`. Searching always asks for ids above
 * the last one and from result 0, so that neither equal stamps nor the 10,000 results that a search can show make a
 * difference, and a record that is changed meanwhile leaves the window and stands in the next one.
 */
export type Stand =
  | { at: 'load'; startedMs: number; maxSeenMs: number | null; after: string | null }
  | { at: 'window'; fromMs: number; toMs: number; lastId: string; maxSeenMs: number | null }
  | { at: 'next'; fromMs: number }

const ms = z.number().int()
const standSchema = z.discriminatedUnion('at', [
  z.object({ at: z.literal('load'), startedMs: ms, maxSeenMs: ms.nullable(), after: z.string().nullable() }),
  z.object({
    at: z.literal('window'),
    fromMs: ms,
    toMs: ms,
    lastId: z.string().regex(/^\d+$/),
    maxSeenMs: ms.nullable(),
  }),
  z.object({ at: z.literal('next'), fromMs: ms }),
])

/** Where a scan begins: behind a watermark, at a time, or at the first record of all. */
export function openStand(
  begin: { after?: Watermark | undefined; since?: Date | undefined },
  nowMs: number,
): Exclude<Stand, { at: 'next' }> {
  if (begin.after !== undefined) {
    const stand = readWatermark(begin.after)
    return stand.at === 'next' ? window(stand.fromMs, nowMs) : stand
  }
  if (begin.since) return window(begin.since.getTime(), nowMs)
  return { at: 'load', startedMs: nowMs, maxSeenMs: null, after: null }
}

/**
 * Where the next scan begins once this one has seen all: at the youngest change seen, for a search may lag behind the
 * records, and a while earlier, for changes that were not in its index yet. Never before this one's beginning, else
 * a quiet account would be read from further back each time.
 */
export function nextStand(stand: Exclude<Stand, { at: 'next' }>, lookbackMs: number): Stand {
  if (stand.at === 'load')
    return {
      at: 'next',
      fromMs: Math.min(stand.maxSeenMs ?? stand.startedMs, stand.startedMs) - lookbackMs,
    }
  if (stand.maxSeenMs === null) return { at: 'next', fromMs: stand.fromMs }
  return {
    at: 'next',
    fromMs: Math.max(stand.fromMs, Math.min(stand.maxSeenMs, stand.toMs) - lookbackMs),
  }
}

export function writeWatermark(stand: Stand): Watermark {
  return JSON.stringify(stand)
}

export function readWatermark(watermark: Watermark): Stand {
  try {
    return standSchema.parse(JSON.parse(watermark))
  } catch (cause) {
    throw new ConfigError('bad_watermark', 'the stored watermark is not one of HubSpot’s', { cause })
  }
}

/** Ids have more digits than a number can hold exactly one day; they are compared as what they are. */
export function largerId(a: string, b: string): string {
  return BigInt(a) > BigInt(b) ? a : b
}

function window(fromMs: number, nowMs: number): Exclude<Stand, { at: 'next' }> {
  return { at: 'window', fromMs: Math.min(fromMs, nowMs), toMs: nowMs, lastId: '0', maxSeenMs: null }
}
