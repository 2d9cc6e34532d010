/**
 * A server that follows the primary, for pages and figures that only read. Money is never decided from it, and its connections
 * refuse to write.
 *
 * How far it is behind is measured without the clock of a server and without a table: this process notes how far the primary's log
 * is at a time, and what the replica has replayed tells up to which of these times it shows everything. An idle primary, a
 * replica that has lost its primary, and clocks that differ all give the right answer.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import { describeError } from '../../domain/errors.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import type { Connections, Database } from './database.ts'
import { readMeta } from './meta.ts'
import { databaseAddresses } from './postgres/addresses.ts'
import { createLedgerDialect } from './postgres/dialect.ts'
import { createLedgerPool } from './postgres/pool.ts'
import type { Tables } from './tables/schema.ts'

export type ReplicaState =
  /** It shows everything that was committed longer ago than this. */
  | { name: 'near'; behindMs: number }
  /** It is further behind than it may be; undefined: by more than is known yet. */
  | { name: 'behind'; behindMs: number | undefined }
  | { name: 'away'; problem: string }
  /** It is no standby, or one of another database. */
  | { name: 'foreign'; problem: string }

export interface Replica {
  state(): ReplicaState
  /**
   * Reads from the replica while it is near, else from the primary. A read that fails on the replica is repeated on the primary,
   * so `read` must not change anything. `behindMs` is undefined for the primary.
   */
  read<T>(read: (db: Database) => Promise<T>): Promise<{ result: T; behindMs: number | undefined }>
  /** Measures now. */
  check(): Promise<ReplicaState>
  close(): Promise<void>
}

export interface ReplicaOptions {
  url: string
  primary: Database
  connections: Connections
  /** A replica that is further behind is not read. */
  mostBehindMs: number
  /** Called when it begins or ends to be read, and for a read that had to be repeated. */
  onChange: (state: ReplicaState) => void
  onFailedRead: (error: unknown) => void
  everyMs?: number
}

interface Sample {
  atMs: number
  lsn: bigint
  /** A standby has the same; a restored copy of the ledger has another, on whatever server. */
  database: string
}

const samplesKept = 120
/** A standby that says nothing any more holds up the end of the process for no longer. */
const patienceMs = 1_000

/** Follows a replica from now on. It is read from the first check on, which this does not wait for. */
export async function openReplica(options: ReplicaOptions): Promise<Replica> {
  const { primary, connections, mostBehindMs, onChange } = options
  const addresses = databaseAddresses(options.url)
  if (!addresses) throw new TypeError('not a postgres:// URL')
  const { most, applicationName, limits } = connections
  const pool = await createLedgerPool({
    ...addresses,
    needsPrimary: false,
    isReadOnly: true,
    connections: most,
    applicationName: `${applicationName}-reads`,
    limits,
  })
  const db = new Kysely<Tables>({ dialect: createLedgerDialect(pool) })
  let samples: Sample[] = []
  let state: ReplicaState = { name: 'behind', behindMs: undefined }
  let measuredMs = 0

  async function check(): Promise<ReplicaState> {
    const before = state
    // Without the primary nothing new is known of it: what the replica lacks grows with time.
    const sample = await sampleOf(primary).catch(() => undefined)
    // Places in the log of another server say nothing about this one.
    if (sample) samples = [...samples.filter(isOf(sample)), sample].slice(-samplesKept)
    state = await measure(db).catch(
      (error: unknown) => ({ name: 'away', problem: describeError(error) }) as const,
    )
    measuredMs = performance.now()
    if (state.name !== before.name) onChange(state)
    return state
  }

  async function measure(on: Database): Promise<ReplicaState> {
    const { rows } = await sql<{ replayed: string | null; ledger: string | null; database: string }>`
      select pg_last_wal_replay_lsn()::text as replayed, ${database} as database,
        (select value from meta where key = 'ledger_id') as ledger
      where pg_is_in_recovery()`.execute(on)
    const [row] = rows
    if (!row || row.replayed === null) return { name: 'foreign', problem: 'it is no standby' }
    const own = await ownLedger()
    if (row.ledger !== null && row.ledger !== own)
      return { name: 'foreign', problem: 'it has another ledger' }
    const newest = samples.at(-1)
    if (newest && row.database !== newest.database)
      return { name: 'foreign', problem: 'it is the standby of another server or database' }
    if (row.ledger !== own) return { name: 'behind', behindMs: undefined }
    const replayed = lsnOf(row.replayed)
    const seen = samples.findLast(({ lsn }) => lsn <= replayed)
    const behindMs = seen && performance.now() - seen.atMs
    const isNear = behindMs !== undefined && behindMs <= mostBehindMs
    return isNear ? { name: 'near', behindMs } : { name: 'behind', behindMs }
  }

  let ledger: string | null | undefined
  async function ownLedger(): Promise<string | null> {
    return (ledger ??= (await readMeta(primary, 'ledger_id')) ?? null)
  }

  const loop = startPollLoop({
    name: 'measure how far the replica is behind',
    work: async () => void (await check()),
    pauseMs: options.everyMs ?? 1_000,
    onError: options.onFailedRead,
  })

  /** A measurement grows old while the next one waits for a server that does not answer. */
  function mayBeNear(): boolean {
    return state.name === 'near' && state.behindMs + performance.now() - measuredMs <= mostBehindMs
  }

  /** An address may lead to several standbys, so it is measured by the connection that reads. */
  async function readNear<T>(read: (db: Database) => Promise<T>) {
    return db.connection().execute(async (one) => {
      const found = await measure(one)
      return found.name === 'near' ? { result: await read(one), behindMs: found.behindMs } : undefined
    })
  }

  return {
    state: () => state,
    async read(read) {
      if (mayBeNear()) {
        try {
          const near = await readNear(read)
          if (near) return near
          await check()
        } catch (error) {
          // Ended by its server, in conflict with what is replayed, or wrong on the primary as well.
          options.onFailedRead(error)
          loop.wake()
        }
      }
      return { result: await read(primary), behindMs: undefined }
    },
    check,
    async close() {
      const ended = loop.stop().then(() => db.destroy())
      const isEnded = ended.then(() => true)
      if (await Promise.race([isEnded, delay(patienceMs, false, { ref: false })])) return
      pool.cut()
      // A connection that is being opened ends by its own time-out.
      await Promise.race([ended, delay(patienceMs)])
    },
  }
}

/** The server's own number, which its standbys share and nobody else, and the name of the database. */
const database = sql<string>`(select system_identifier from pg_control_system()) || ' ' || current_database()`

const isOf = (sample: Sample) => (other: Sample) => other.database === sample.database

/** A commit is in the log before anybody is told of it, so what was committed before `atMs` ends at or before `lsn`. */
async function sampleOf(primary: Database): Promise<Sample> {
  const atMs = performance.now()
  const { rows } = await sql<{ lsn: string; database: string }>`
    select pg_current_wal_insert_lsn()::text as lsn, ${database} as database`.execute(primary)
  return { atMs, lsn: lsnOf(rows[0]?.lsn ?? '0/0'), database: rows[0]?.database ?? '' }
}

const pageBytes = 8_192n
const longestHeader = 40n

/**
 * Reads `16/B374D848`. At the end of a page of the log, the place of the next record is behind that page's header, and the end of the
 * last one before it: both are the same to us.
 */
export function lsnOf(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/')
  const lsn = (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
  const inPage = lsn % pageBytes
  return inPage <= longestHeader ? lsn - inPage : lsn
}
