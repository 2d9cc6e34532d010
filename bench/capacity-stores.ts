import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import { startPostgres, startRedis } from '../test/faults/servers.ts'
import { familyMs, processorMs } from './processor-time.ts'

/** Everything that the stores have counted so far; the cost of a night is a difference of two. */
export interface StoreCounts {
  statements: number
  transactions: number
  walBytes: number
  tableBytes: number
  /** As Redis counts them: with those that a script calls. */
  redisOperations: number
  postgresMs: number
  redisMs: number
}

export interface MeasuredStores {
  env: Record<string, string>
  counts(): Promise<StoreCounts>
  /** Takes out what is dead, and returns what all tables hold then: how much is dead depends on when autovacuum came. */
  keptBytes(): Promise<number>
  /** The bytes of each table with its indexes, the largest first. */
  tables(): Promise<{ table: string; bytes: number; indexBytes: number; rows: number }[]>
  /** The statements that took the longest in all. */
  statements(): Promise<{ statement: string; calls: number; walBytes: number; ms: number }[]>
  /** How many tasks have not ended. */
  openTasks(): Promise<number>
  stop(): Promise<void>
}

/** Starts a Postgres that counts its statements, and a Redis. */
export async function startMeasuredStores(): Promise<MeasuredStores> {
  const [redisServer, postgres] = [await startRedis(), await startPostgres()]
  const setUp = await connect(postgres.url)
  await setUp.query("alter system set shared_preload_libraries = 'pg_stat_statements'")
  await setUp.end()
  await postgres.kill()
  await postgres.start()
  const client = await connect(postgres.url)
  await client.query('create extension pg_stat_statements')
  const { data_directory: folder } = await one(client, 'show data_directory')
  const postmaster = Number((await readFile(join(String(folder), 'postmaster.pid'), 'utf8')).split('\n')[0])
  const redis = new Redis(redisServer.url)
  const redisPid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1])
  return {
    env: { REDIS_URL: redisServer.url, DATABASE_URL: postgres.url },
    async counts() {
      const row = await one(
        client,
        `select (select sum(calls) from pg_stat_statements)::float8 as statements,
          (select sum(xact_commit) from pg_stat_database)::float8 as transactions,
          pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
          (select sum(pg_total_relation_size(relid)) from pg_stat_user_tables)::float8 as tables`,
      )
      return {
        statements: Number(row['statements']),
        transactions: Number(row['transactions']),
        walBytes: Number(row['wal']),
        tableBytes: Number(row['tables']),
        redisOperations: Object.values(callsOf(await redis.info('commandstats'))).reduce((a, b) => a + b, 0),
        postgresMs: familyMs(postmaster),
        redisMs: processorMs(redisPid),
      }
    },
    async keptBytes() {
      await client.query('vacuum full')
      const row = await one(
        client,
        'select sum(pg_total_relation_size(relid))::float8 as bytes from pg_stat_user_tables',
      )
      return Number(row['bytes'])
    },
    async tables() {
      await client.query('select pg_stat_force_next_flush()')
      const { rows } = await client.query(
        `select relname as table, pg_total_relation_size(relid)::float8 as bytes, pg_indexes_size(relid)::float8 as "indexBytes",
          n_tup_ins::float8 as rows
        from pg_stat_user_tables order by bytes desc limit 10`,
      )
      return rows
    },
    async statements() {
      const { rows } = await client.query(
        `select left(regexp_replace(query, '\\s+', ' ', 'g'), 80) as statement, calls::float8, wal_bytes::float8 as "walBytes", total_exec_time::float8 as ms
        from pg_stat_statements order by total_exec_time desc limit 12`,
      )
      return rows
    },
    async openTasks() {
      const row = await one(
        client,
        `select count(*)::int as open from tasks where status in ('queued', 'looking_up', 'ready', 'parked')`,
      )
      return Number(row['open'])
    },
    async stop() {
      redis.disconnect()
      await client.end()
      await Promise.all([redisServer.stop(), postgres.stop()])
    },
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  return client
}

async function one(client: pg.Client, text: string): Promise<Record<string, unknown>> {
  return ((await client.query(text)).rows as Record<string, unknown>[])[0] ?? {}
}

function callsOf(commandstats: string): Record<string, number> {
  const lines = commandstats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)
  return Object.fromEntries([...lines].map(([, name, calls]) => [name, Number(calls)]))
}
