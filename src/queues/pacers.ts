import type { Redis } from 'ioredis'
import type { Operation } from '../domain/words.ts'
import { createPacer, type Pacer, type PacerOptions } from './pacer/pacer.ts'

/** Kinds of requests that the service may count separately. */
const pacerPaths = ['lookup', 'redemption', 'enrichment'] as const
type PacerPath = (typeof pacerPaths)[number]

export interface Pacers {
  /** The pacer of ordinary lookups. */
  readonly lookup: Pacer
  of(operation: Operation): Pacer
  /** Returns each pacer with the name under which processes share it. */
  all(): [path: PacerPath, pacer: Pacer, name: string][]
}

const pathOf: Partial<Record<Operation, PacerPath>> = {
  'contact.redeem': 'redemption',
  // An enrichment takes half a minute or more, so its pace says nothing about the others.
  'company.enrich': 'enrichment',
}

/** One pacer per service host, access (paid by request, or by API key) and path. */
export function createPacers(
  redis: Redis,
  { host, access, ...options }: { host: string; access: 'paid' | 'direct' } & Omit<PacerOptions, 'name'>,
): Pacers {
  const base = access === 'paid' ? host : `${host}:direct`
  const nameOf = (path: PacerPath) => (path === 'lookup' ? base : `${base}:${path}`)
  const pacers = Object.fromEntries(
    pacerPaths.map((path) => [path, createPacer(redis, { ...options, name: nameOf(path) })]),
  ) as Record<PacerPath, Pacer>
  return {
    lookup: pacers.lookup,
    of: (operation) => pacers[pathOf[operation] ?? 'lookup'],
    all: () => pacerPaths.map((path) => [path, pacers[path], nameOf(path)]),
  }
}
