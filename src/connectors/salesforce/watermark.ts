import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'

/**
 * The position of a scan. Inside a scan: after the record with this stamp and id, up to the same end as before, so that
 * an interrupted scan and its continuation are one scan. After a finished scan: everything from a stamp on, for the
 * next one.
 */
export type Position =
  { kind: 'inside'; stampMs: number; id: string; endMs: number } | { kind: 'from'; stampMs: number }

export function writeWatermark(position: Position): string {
  return position.kind === 'inside'
    ? JSON.stringify({ at: iso(position.stampMs), id: position.id, end: iso(position.endMs) })
    : JSON.stringify({ from: iso(position.stampMs) })
}

/** Throws ConfigError for a text that `writeWatermark` did not write. */
export function readWatermark(text: string): Position {
  const parsed = schema.safeParse(fromJson(text))
  if (!parsed.success)
    throw new ConfigError('bad_watermark', 'the stored watermark is not one of Salesforce’s')
  const { data } = parsed
  if ('from' in data) return { kind: 'from', stampMs: data.from }
  return { kind: 'inside', stampMs: data.at, id: data.id, endMs: data.end }
}

const time = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)))
  .transform((text) => Date.parse(text))

const schema = z.union([
  z.object({ at: time, id: z.string().regex(/^[A-Za-z0-9]{18}$/), end: time }),
  z.object({ from: time }),
])

function iso(atMs: number): string {
  return new Date(atMs).toISOString()
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
