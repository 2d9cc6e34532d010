import { z } from 'zod'

export const milliseconds = z.int().min(0).max(600_000)
export const errorStatus = z.int().min(500).max(599)

/** When a fault hits: the next requests that reach it, by number, and in addition a share of all that do. */
const trigger = { next: z.int().min(0).default(0), share: z.number().min(0).max(1).default(0) }

export const fault = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject({ ...trigger, ...shape }).prefault({} as never)
