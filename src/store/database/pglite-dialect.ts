import type { PGlite } from '@electric-sql/pglite'
import {
  CompiledQuery,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import { createPGliteStatements } from './pglite-statements.ts'

/**
 * Kysely on PGlite: one connection, handed out one at a time, so that no statement of somebody else slips into an open
 * transaction.
 */
export function createPGliteDialect(client: PGlite): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(client),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

const longestStretchMs = 10

function createDriver(client: PGlite): Driver {
  const connection = createConnection(client)
  const waiting: (() => void)[] = []
  let busy = false
  let brokeAtMs = performance.now()

  /**
   * PGlite works in this thread, and one statement hands over to the next without a turn of the event loop: while a run
   * keeps the line filled, nobody would accept a connection or look at a timer. So now and then the loop has its turn.
   */
  function handOver(next: () => void): void {
    if (performance.now() - brokeAtMs < longestStretchMs) return next()
    setImmediate(() => {
      brokeAtMs = performance.now()
      next()
    })
  }

  return {
    init: () => client.waitReady,
    async acquireConnection() {
      if (busy) await new Promise<void>((resolve) => waiting.push(resolve))
      busy = true
      return connection
    },
    async releaseConnection() {
      const next = waiting.shift()
      if (next) handOver(next)
      else busy = false
    },
    beginTransaction: () => run(connection, 'begin'),
    commitTransaction: () => run(connection, 'commit'),
    rollbackTransaction: () => run(connection, 'rollback'),
    destroy: () => client.close(),
  }
}

function createConnection(client: PGlite): DatabaseConnection {
  const statements = createPGliteStatements(client)
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, affected } = await statements.run<R>(query.sql, query.parameters)
      return { rows, numAffectedRows: BigInt(affected) }
    },
    // eslint-disable-next-line require-yield
    async *streamQuery() {
      throw new Error('PGlite has no cursors here: read in pages')
    },
  }
}

async function run(connection: DatabaseConnection, statement: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(statement))
}
