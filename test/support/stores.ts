import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { databaseAddresses } from '../../src/store/database/postgres/addresses.ts'

export type FreshStores = {
  /** A database of its own on the server of DATABASE_URL; absent: embedded, in `dataDir`. */
  databaseUrl?: string
  /** The server of REDIS_URL, shared with other test files: keep to `redisPrefix`; absent: embedded. */
  redisUrl?: string
  redisPrefix: string
  dataDir: string
  /** Drops the database and the directory. Close what uses them first. */
  cleanup(): Promise<void>
}

/** Returns stores for a test file's data: nothing in them was there before, and nothing of it stays. */
export async function freshStores(
  env: Record<string, string | undefined> = process.env,
): Promise<FreshStores> {
  const name = `paydirt_test_${randomBytes(6).toString('hex')}`
  const dataDir = await mkdtemp(join(tmpdir(), `${name}-`))
  const serverUrl = env['DATABASE_URL']
  const redisUrl = env['REDIS_URL']
  if (serverUrl) await onServer(serverUrl, `create database ${name}`)
  return {
    ...(serverUrl ? { databaseUrl: databaseOn(serverUrl, name) } : {}),
    ...(redisUrl ? { redisUrl } : {}),
    redisPrefix: name,
    dataDir,
    async cleanup() {
      // By force: a connection that a failed test left open must not keep the database.
      if (serverUrl) await onServer(serverUrl, `drop database if exists ${name} with (force)`)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function databaseOn(serverUrl: string, name: string): string {
  return serverUrl.replace(/^(\w+:\/\/[^/?]*)(\/[^?]*)?/, `$1/${name}`)
}

async function onServer(serverUrl: string, statement: string): Promise<void> {
  const client = await connect(databaseAddresses(serverUrl)?.urls ?? [serverUrl])
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The first of several servers is the primary, unless it is away. */
async function connect([url, ...others]: readonly string[]): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    return client
  } catch (error) {
    if (others.length === 0) throw error
    return connect(others)
  }
}
