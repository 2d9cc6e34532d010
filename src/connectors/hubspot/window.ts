import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import type { Watermark } from '../connector.ts'

/**
 * The position of a scan.
 *
 * `load` walks the list of all records, page after page. Then `next` waits until another scan opens a `window`: all
 * records changed from `fromMs` to `toMs`, in the order of their ids, after `lastId`. A search always asks for ids
 * above the last one and from result 0. So neither equal stamps nor the 10,000 results that a search can show matter,
 * and a record that changes meanwhile leaves the window and is in the next one.
 */
export type Position =
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

/** Returns where a scan starts: after a watermark, at a time, or at the first record of all. */
export function openPosition(
  begin: { after?: Watermark | undefined; since?: Date | undefined },
  nowMs: number,
): Exclude<Position, { at: 'next' }> {
  if (begin.after !== undefined) {
    const position = readWatermark(begin.after)
    return position.at === 'next' ? window(position.fromMs, nowMs) : position
  }
  if (begin.since) return window(begin.since.getTime(), nowMs)
  return { at: 'load', startedMs: nowMs, maxSeenMs: null, after: null }
}

/**
 * Returns where the next scan starts after this one has seen everything: at the latest change seen, since a search may
 * lag behind the records, and a while earlier, for changes that were not indexed yet. Never before the start of this
 * scan: otherwise a quiet account would be read from further back each time.
 */
export function nextPosition(position: Exclude<Position, { at: 'next' }>, lookbackMs: number): Position {
  if (position.at === 'load')
    return {
      at: 'next',
      fromMs: Math.min(position.maxSeenMs ?? position.startedMs, position.startedMs) - lookbackMs,
    }
  if (position.maxSeenMs === null) return { at: 'next', fromMs: position.fromMs }
  return {
    at: 'next',
    fromMs: Math.max(position.fromMs, Math.min(position.maxSeenMs, position.toMs) - lookbackMs),
  }
}

export function writeWatermark(position: Position): Watermark {
  return JSON.stringify(position)
}

export function readWatermark(watermark: Watermark): Position {
  try {
    return standSchema.parse(JSON.parse(watermark))
  } catch (cause) {
    throw new ConfigError('bad_watermark', 'the stored watermark is not one of HubSpot’s', { cause })
  }
}

/** Ids can have more digits than a number represents exactly. */
export function largerId(a: string, b: string): string {
  return BigInt(a) > BigInt(b) ? a : b
}

function window(fromMs: number, nowMs: number): Exclude<Position, { at: 'next' }> {
  return { at: 'window', fromMs: Math.min(fromMs, nowMs), toMs: nowMs, lastId: '0', maxSeenMs: null }
}
