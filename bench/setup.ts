import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileConfig } from '../src/app/config/file.ts'
import { profileFieldNames } from '../src/domain/fields.ts'
import { missingServers, startPostgres, startRedis } from '../test/faults/servers.ts'
import { startChild, type Child } from './child.ts'
import type { CrmOrder } from './crm-process.ts'
import type { BenchOptions } from './options.ts'
import type { StubOrder } from './stub-service.ts'

/** The key of an empty wallet: the stub accepts every signature. */
export const walletKey = `0x${'7'.repeat(64)}` as const

/**
 * One paid lookup per record and no free one: the built-in recipe without logos. A logo would be a second request per
 * record, to another server, which the plain script does not make either.
 */
export const oneLookup = {
  recipes: { profile: { company: { fields: profileFieldNames('company'), steps: ['company.profile'] } } },
} satisfies FileConfig

export interface Stores {
  kind: 'embedded' | 'servers'
  env: Record<string, string>
  stop(): Promise<void>
}

/** Opens fresh stores of one kind. Returns undefined and prints the reason where the servers are not installed. */
export async function openStores(kind: Stores['kind']): Promise<Stores | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-bench-'))
  const clean = () => rm(folder, { recursive: true, force: true })
  const env = {
    PAYDIRT_DATA_DIR: join(folder, 'data'),
    PAYDIRT_LOG_LEVEL: process.env['BENCH_LOG'] ?? 'silent',
  }
  if (kind === 'embedded') return { kind, env, stop: clean }
  const missing = missingServers()
  if (missing !== undefined) {
    process.stderr.write(`skipped with Redis and Postgres: ${missing}\n`)
    await clean()
    return undefined
  }
  const [redis, postgres] = [await startRedis(), await startPostgres()]
  return {
    kind,
    env: { ...env, REDIS_URL: redis.url, DATABASE_URL: postgres.url },
    async stop() {
      await Promise.all([redis.stop(), postgres.stop()])
      await clean()
    },
  }
}

/** Returns the environment of a process that reads and writes the CRM's stand-in and buys from the stub by API key. */
export async function envWith(
  stores: Pick<Stores, 'env'>,
  crm: Child,
  serviceUrl: string,
): Promise<Record<string, string>> {
  const { baseUrl, token } = await crm.ask<{ baseUrl: string; token: string }>('address')
  return {
    ...stores.env,
    PAYDIRT_SERVICE_URL: serviceUrl,
    PAYDIRT_API_KEY: 'bench',
    HUBSPOT_BASE_URL: baseUrl,
    HUBSPOT_ACCESS_TOKEN: token,
  }
}

/** Does work with fresh stores and a stand-in of the CRM. Returns undefined where the servers are not installed. */
export async function withCrm<T>(
  kind: Stores['kind'],
  order: CrmOrder,
  work: (parts: { stores: Stores; crm: Child }) => Promise<T>,
): Promise<T | undefined> {
  const stores = await openStores(kind)
  if (!stores) return undefined
  const crm = await startChild('crm-process.ts', order)
  try {
    return await work({ stores, crm })
  } finally {
    await crm.stop()
    await stores.stop()
  }
}

/** A limit of so many a second, and a file for one lookup a record whose pacer begins near it: learning is not measured. */
export function steadyPace(perSecond: number) {
  const limit = { kind: 'bucket' as const, limit: perSecond, windowMs: 1_000, countRefused: false }
  const file = { ...oneLookup, pacing: { startPerSecond: perSecond * 0.8, concurrency: 64 } }
  return { limit, file }
}

export function storesOf({ quick, stores }: BenchOptions): Stores['kind'][] {
  return quick ? ['embedded'] : stores
}

export async function withStub<T>(
  order: StubOrder,
  work: (stub: Child, url: string) => Promise<T>,
): Promise<T> {
  const stub = await startChild('stub-service.ts', order)
  try {
    return await work(stub, await stub.ask<string>('url'))
  } finally {
    await stub.stop()
  }
}
