import type { PGlite } from '@electric-sql/pglite'
import {
  CompiledQuery,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import { EmbeddedAdapter } from '../embedded.ts'
import { goesFirst } from '../go-first.ts'
import { createPGliteStatements } from './statements.ts'

/**
 * Kysely on PGlite. There is one connection, and one caller has it at a time, so that no other caller's statement gets into
 * an open transaction. `beforeUse` is called before each statement, and may refuse it by throwing.
 */
export function createPGliteDialect(
  client: PGlite,
  beforeUse: () => void,
  { nowMs = () => performance.now(), keptMs = 3 }: { nowMs?: () => number; keptMs?: number } = {},
): Dialect {
  return {
    createAdapter: () => new EmbeddedAdapter(),
    createDriver: () => createDriver(client, { beforeUse, nowMs, keptMs }),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

const maxStretchMs = 5
/** A request takes several turns from its first byte to its statement. */
const turnsAtOnce = 4
/** One that waits in line has its turn after others have gone first for so long, so that no crowd of senders stops all work. */
const mostFirstMs = 50

function createDriver(
  client: PGlite,
  {
    beforeUse,
    nowMs,
    keptMs,
  }: {
    beforeUse: () => void
    nowMs: () => number
    /**
     * The connection is kept so long for the next statement of somebody who goes first. A press is some thirty statements with a
     * few turns between them, and a batch of the night that got in each time would hold it up for 5 to 60 ms each time.
     */
    keptMs: number
  },
): Driver {
  const connection = createConnection(client, beforeUse)
  const first: (() => void)[] = []
  const waiting: { sinceMs: number; take(): void }[] = []
  /** Since when those who wait in line have had no turn. */
  let turnedMs = -Infinity
  let busy = false
  let isOfFirst = false
  let kept: NodeJS.Timeout | undefined

  /** Returns true while those who go first may hold up the line. */
  function mayHold(): boolean {
    const [next] = waiting
    return !next || nowMs() - Math.max(next.sinceMs, turnedMs) < mostFirstMs
  }

  function takeNext(): (() => void) | undefined {
    if (first.length > 0 && mayHold()) return first.shift()
    const next = waiting.shift()
    if (next) turnedMs = nowMs()
    return next?.take
  }

  function endKeeping(): void {
    clearTimeout(kept)
    kept = undefined
  }

  function passOn(): void {
    kept = undefined
    const next = takeNext()
    if (next) next()
    else busy = false
  }

  return {
    init: () => client.waitReady,
    async acquireConnection() {
      const isFirst = goesFirst()
      if (kept && isFirst) endKeeping()
      else if (busy)
        await new Promise<void>((take) => {
          if (isFirst) first.push(take)
          else waiting.push({ sinceMs: nowMs(), take })
        })
      busy = true
      isOfFirst = isFirst
      return connection
    },
    async releaseConnection() {
      // A turn of the line ends now, and not when it began.
      if (!isOfFirst) turnedMs = nowMs()
      if (isOfFirst && first.length === 0 && waiting.length > 0 && mayHold())
        kept = setTimeout(passOn, keptMs)
      else passOn()
    },
    beginTransaction: () => run(connection, 'begin'),
    commitTransaction: () => run(connection, 'commit'),
    rollbackTransaction: () => run(connection, 'rollback'),
    destroy: () => client.close(),
  }
}

function createConnection(client: PGlite, beforeUse: () => void): DatabaseConnection {
  const statements = createPGliteStatements(client)
  let yieldedAtMs = performance.now()

  /**
   * PGlite runs in this thread, and one statement is followed by the next without a turn of the event loop, be they of one caller or of
   * many. Meanwhile no connection would be accepted and no timer would fire, so the event loop gets a turn after each stretch.
   */
  async function giveTurn(): Promise<void> {
    if (performance.now() - yieldedAtMs < maxStretchMs) return
    for (let turn = 0; turn < turnsAtOnce; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    yieldedAtMs = performance.now()
  }

  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      await giveTurn()
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
