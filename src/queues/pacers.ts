import type { Redis } from 'ioredis'
import type { Operation } from '../domain/words.ts'
import { createPacer, type Pacer, type PacerOptions } from './pacer/pacer.ts'

/** Requests that the service may count apart from the others. */
const pacerPaths = ['lookup', 'redemption', 'enrichment'] as const
type PacerPath = (typeof pacerPaths)[number]

export interface Pacers {
  /** The pace of ordinary lookups. */
  readonly lookup: Pacer
  of(operation: Operation): Pacer
  /** With the name under which processes share it. */
  all(): [path: PacerPath, pacer: Pacer, name: string][]
}

const pathOf: Partial<Record<Operation, PacerPath>> = {
  'contact.redeem': 'redemption',
  // Half a minute and more each: what is learned of their pace says nothing of the others'.
  'company.enrich': 'enrichment',
}

/** One pacer a service host, access (paid by request, or by API key) and path. */
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
