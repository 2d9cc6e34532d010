import type { Writable } from 'node:stream'
import type { Client, ClientConfig, Pool, PoolClient, PoolConfig } from 'pg'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { DatabaseAddresses } from './addresses.ts'
import { asArrayText } from '../parameters.ts'
import { readJson } from '../../packed/packed-json.ts'
import { isOfPreparation } from './preparation-errors.ts'
import { createStatementNames } from './statement-names.ts'
import {
  hasLimits,
  limitParameters,
  noParameters,
  sessionQuery,
  setLocally,
  type ConnectionLimits,
  type SessionRow,
} from './limits.ts'

export interface PoolOptions extends DatabaseAddresses {
  connections: number
  applicationName: string
  limits: ConnectionLimits
  /** Statements that write are refused, whatever the server is. */
  isReadOnly?: boolean
}

export interface LedgerPool extends PostgresPool {
  /** Returns what follows the `begin` of a transaction, so that it keeps the limits also where its connection has none. */
  afterBegin(): string[]
  /** Cuts the connections of statements that are under way: `end` would wait for a server that says nothing any more. */
  cut(): void
}

/** The time for one host of several; one host alone may be slow to wake. */
const connectMs = { alone: 10_000, ofSeveral: 3_000 }
/** A server that says nothing for so long after it had to cancel a statement is gone. */
const silenceMs = 10_000
const parsers = new Map<number, (text: string) => unknown>([
  [20, BigInt],
  [114, readJson],
  [3802, readJson],
])
/**
 * Others are closed after ten seconds without use. A press sends some statements side by side, and presses are minutes apart: each would
 * open connections first.
 */
const keptOpen = 4
/**
 * An idle connection shows that often that it lives. Balancers and firewalls forget one that is silent for four to six minutes and tell
 * nobody: the next statement would wait for its time limit. By default the system first asks after two hours.
 */
const keepAliveMs = 60_000
const readOnlyCode = '25006'
/** Read-only, or about to go: the primary was switched over. The connection leads to a server that is of no use any more. */
const lostServerCodes = new Set([readOnlyCode, '57P01', '57P02', '57P03'])
/** The driver's own: the answer may still come, and must not be taken for that to the next statement. */
const noAnswer = /query read timeout/i
const endsTransaction = new Set(['commit', 'rollback'])
const nothing = { command: '', rowCount: 0, rows: [] }
/** An earlier statement has failed, and everything up to the rollback is refused. */
const refusedBehindError = '25P02'
const allInUse = /timeout exceeded when trying to connect/i
const refusedParameter = /unsupported startup parameter/i

class ReadOnlyServerError extends Error {
  override name = 'ReadOnlyServerError'
  readonly code = readOnlyCode
}

/**
 * A pool over the hosts of one database, of which one takes writes. A host that is away or read-only is passed over for the
 * next one, and after a switch-over every connection to the former primary is dropped, so that whoever repeats its
 * transaction meets the new one.
 */
export async function createLedgerPool(options: PoolOptions): Promise<LedgerPool> {
  const { urls, needsPrimary, limits } = options
  const { default: pg } = await import('pg')
  const parameters = limitParameters(limits)
  const settings: PoolConfig = {
    connectionString: urls[0],
    max: options.connections,
    min: Math.min(keptOpen, options.connections),
    // The wait for a free connection.
    connectionTimeoutMillis: connectMs.alone,
    Client: urls.length > 1 ? quickToGiveUp(pg.Client) : pg.Client,
    // Statements of one caller may follow each other without waiting (one-trip.ts). A connection that only reads is cut while
    // one is under way, which the driver does only for those that wait.
    pipeline: !options.isReadOnly,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    application_name: options.applicationName,
    ...(options.isReadOnly ? { options: '-c default_transaction_read_only=on' } : {}),
    ...parameters,
    ...(limits.statementSeconds > 0 ? { query_timeout: parameters.statement_timeout + silenceMs } : {}),
    // By default the driver returns bigints as strings, and JSON as it is stored.
    types: {
      getTypeParser: ((oid: number, format?: 'text') =>
        parsers.get(oid) ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  }
  const pool: Pool = new pg.Pool(settings)
  // The pool replaces an idle connection that breaks. Without a listener the error would end the process.
  pool.on('error', () => {})
  // A connection that breaks between two queries of a transaction also needs a listener; its next query reports the error.
  const open = new Set<Client>()
  pool.on('connect', (client) => {
    client.on('error', () => {})
    client.once('end', () => open.delete(client))
    open.add(client)
  })

  let host = 0
  // Counts switch-overs. A connection from before one is not used again.
  let epoch = 0
  const epochs = new WeakMap<Client | PoolClient, number>()
  // A pooler refuses limits when a connection begins, or drops them: each transaction then sets its own.
  let setsLocally = false
  const names = createStatementNames()

  async function connect(): Promise<PostgresPoolClient> {
    let wasRefused = false
    for (let failures = 0; ;) {
      const tried = host
      try {
        const client = await pool.connect()
        const known = epochs.get(client)
        if (known !== undefined && known !== epoch) {
          client.release(true)
          continue
        }
        if (known === undefined) await examine(client)
        await refresh(client)
        return lend(client)
      } catch (error) {
        // A transaction pooler such as pgbouncer. It asks for no other host.
        // Another connection may have met it first, while this one began.
        if (refusedParameter.test(String((error as Error).message)) && !wasRefused) {
          wasRefused = true
          setsLocally = true
          Object.assign(pool.options, noParameters, { options: undefined })
          continue
        }
        if (allInUse.test(String((error as Error).message))) throw error
        failures += 1
        // Twice round: the standby may be promoted while it is passed over.
        if (failures >= (urls.length > 1 ? urls.length * 2 : 1)) throw error
        if (host === tried) moveOn()
      }
    }
  }

  function moveOn(): void {
    host = (host + 1) % urls.length
    pool.options.connectionString = urls[host]
  }

  async function examine(client: PoolClient): Promise<void> {
    const began = epoch
    try {
      const { rows } = await client.query<SessionRow>(sessionQuery)
      const [row] = rows as [SessionRow]
      if (row.read_only && needsPrimary) throw new ReadOnlyServerError('this server is read-only: no primary')
      if (!hasLimits(row, parameters)) setsLocally = true
      names.met(client, row.backend)
      epochs.set(client, began)
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  async function refresh(client: PoolClient): Promise<void> {
    try {
      await names.refresh(client)
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  function lend(client: PoolClient): PostgresPoolClient {
    let isOfUse = true
    let cause: unknown
    let underWay = 0
    // As far as it was sent: the driver knows it when it is answered.
    let isInTransaction = false
    const query = async (text: string, values: readonly unknown[]) => {
      // It was ended in one trip with its last statements (one-trip.ts).
      if (endsTransaction.has(text) && underWay === 0 && client.getTransactionStatus() === 'I') return nothing
      const given = values.map(asArrayText)
      if (text.startsWith('begin')) isInTransaction = true
      else if (endsTransaction.has(text)) isInTransaction = false
      const mayRepeat = !isInTransaction
      underWay += 1
      sendTogether(client.connection.stream)
      try {
        const name = names.nameOf(client, text, given.length)
        return await (name === undefined
          ? client.query(text, given)
          : client.query({ name, text, values: given }))
      } catch (error) {
        if (isLost(error)) {
          isOfUse = false
          if (epochs.get(client) === epoch) epoch += 1
        }
        if (isOfPreparation(error) && mayRepeat) return await client.query(text, given)
        // The statement before it was not waited for, and its error says more.
        if ((error as { code?: unknown }).code === refusedBehindError && cause !== undefined) throw cause
        cause = error
        throw error
      } finally {
        underWay -= 1
      }
    }
    return {
      query: query as unknown as PostgresPoolClient['query'],
      release: () => client.release(!isOfUse),
    }
  }

  return {
    connect,
    end: () => pool.end(),
    afterBegin: () => (setsLocally ? setLocally(parameters) : []),
    // The driver closes the socket of a connection that has a statement under way, and takes its leave on others.
    cut: () => open.forEach((client) => void client.end().catch(() => {})),
  }
}

/** Sends what is asked before the next promise goes on as one write: the statements of a trip cost one call of the system then. */
function sendTogether(stream: Writable): void {
  stream.cork()
  queueMicrotask(() => stream.uncork())
}

/** The pool has one time-out for a free connection and for a new one. */
function quickToGiveUp(Base: typeof Client): typeof Client {
  return class extends Base {
    constructor(config?: ClientConfig) {
      super({ ...config, connectionTimeoutMillis: connectMs.ofSeveral })
    }
  }
}

function isLost(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return lostServerCodes.has(String(code)) || noAnswer.test(String(message)) || isOfPreparation(error)
}
