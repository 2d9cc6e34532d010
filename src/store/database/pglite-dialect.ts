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
 * Kysely on PGlite. There is one connection, and one caller has it at a time, so that no other caller's statement gets into
 * an open transaction. `beforeUse` is called before each statement, and may refuse it by throwing.
 */
export function createPGliteDialect(client: PGlite, beforeUse: () => void): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(client, beforeUse),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

const maxStretchMs = 10

function createDriver(client: PGlite, beforeUse: () => void): Driver {
  const connection = createConnection(client, beforeUse)
  const waiting: (() => void)[] = []
  let busy = false
  let yieldedAtMs = performance.now()

  /**
   * Gives the connection to the next caller. PGlite runs in this thread, and one statement is followed by the next without a
   * turn of the event loop. While a run keeps the line filled, no connection would be accepted and no timer would fire, so
   * the event loop gets a turn after each stretch.
   */
  function handOver(next: () => void): void {
    if (performance.now() - yieldedAtMs < maxStretchMs) return next()
    setImmediate(() => {
      yieldedAtMs = performance.now()
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

function createConnection(client: PGlite, beforeUse: () => void): DatabaseConnection {
  const statements = createPGliteStatements(client)
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      beforeUse()
      const { rows, affected } = await statements.run<R>(query.sql, query.parameters)
      return { rows, numAffectedRows: BigInt(affected) }
    },
    // eslint-disable-next-line require-yield
    async *streamQuery() {
      throw new Error('this PGlite dialect has no cursors: read in pages')
    },
  }
}

async function run(connection: DatabaseConnection, statement: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(statement))
}
