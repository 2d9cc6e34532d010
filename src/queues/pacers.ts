import type { RedisClient } from './redis-client.ts'
import { operationRow, paces, type Pace } from '../domain/operations.ts'
import type { Operation } from '../domain/words.ts'
import { createPacer, type Pacer, type PacerOptions } from './pacer/pacer.ts'

export interface Pacers {
  /** The pacer of ordinary lookups. */
  readonly lookup: Pacer
  of(operation: Operation): Pacer
  /** Returns each pacer with the name under which processes share it. */
  all(): [path: Pace, pacer: Pacer, name: string][]
}

/** One pacer per service host, access (paid by request, or by API key) and path. */
export function createPacers(
  redis: RedisClient,
  { host, access, ...options }: { host: string; access: 'paid' | 'direct' } & Omit<PacerOptions, 'name'>,
): Pacers {
  const base = access === 'paid' ? host : `${host}:direct`
  const nameOf = (path: Pace) => (path === 'lookup' ? base : `${base}:${path}`)
  const pacers = Object.fromEntries(
    paces.map((path) => [path, createPacer(redis, { ...options, name: nameOf(path) })]),
  ) as Record<Pace, Pacer>
  return {
    lookup: pacers.lookup,
    of: (operation) => pacers[operationRow(operation).pace],
    all: () => paces.map((path) => [path, pacers[path], nameOf(path)]),
  }
}
