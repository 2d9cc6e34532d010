import { createHash } from 'node:crypto'
import type { Client, PoolClient } from 'pg'
import { isPreparable } from '../preparable.ts'

/**
 * A statement is prepared once it is asked this often: a prepared statement takes memory in each connection of the server, and those of the
 * desk and of commands are asked rarely.
 */
const fromUse = 3
const mostKnown = 1_000
/**
 * A plan suits the tables as they were, and one for an empty ledger reads all of a full one. So those of a connection are given up after so
 * long, each time twice as long, and with each analysis of a table (analyse-tables.ts). Postgres plans a statement five times before it
 * keeps a plan: with ten seconds each time, those of presses were planned anew with every press.
 */
const ageMs = { least: 10_000, most: 60_000 }

/** The driver's lists of what a connection has prepared. */
interface Prepared {
  processID?: number | null
  connection: { parsedStatements: Record<string, string> }
}

/**
 * Names for statements that are asked often, so that a connection of the server parses and plans them once: planning was a quarter of the
 * time of all statements, and most of it for those of a press. A name is a digest of its text. It never means another
 * statement, whoever has prepared it on this connection.
 *
 * Only where the connection is the server's own. A transaction pooler gives each transaction another one; it is known by the number
 * of its process, which is not that of the backend.
 */
export function createStatementNames(nowMs: () => number = () => performance.now()) {
  const known = new Map<string, { uses: number; name: string }>()
  const ages = new WeakMap<Client | PoolClient, { sinceMs: number; mostMs: number }>()

  return {
    /** Called with the process that answers on a new connection. */
    met(client: Client | PoolClient, backend: number): void {
      const isOwn = (client as unknown as Prepared).processID === backend
      if (isOwn) ages.set(client, { sinceMs: nowMs(), mostMs: ageMs.least })
    },

    /** Called before a connection is used, with nothing under way on it. */
    async refresh(client: Client | PoolClient): Promise<void> {
      const age = ages.get(client)
      const { connection } = client as unknown as Prepared
      if (age === undefined || nowMs() - age.sinceMs < age.mostMs) return
      ages.set(client, { sinceMs: nowMs(), mostMs: Math.min(ageMs.most, 2 * age.mostMs) })
      if (Object.keys(connection.parsedStatements).length === 0) return
      await client.query('deallocate all')
      connection.parsedStatements = {}
    },

    /** Returns the name under which a statement is prepared; undefined where it is not. */
    nameOf(client: Client | PoolClient, text: string, parameters: number): string | undefined {
      if (parameters === 0 || !ages.has(client) || !isPreparable(text, parameters)) return undefined
      const before = known.get(text)
      if (before) return ++before.uses >= fromUse ? before.name : undefined
      if (known.size >= mostKnown) known.clear()
      known.set(text, { uses: 1, name: `p${createHash('sha256').update(text).digest('hex').slice(0, 32)}` })
      return undefined
    },
  }
}
