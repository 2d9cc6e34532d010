import { messages as kinds, parse, protocol, type PGlite } from '@electric-sql/pglite'
import { isPreparable } from '../preparable.ts'
import { bindAndExecute, columnsOf, readAnswer, type Answered, type Column } from './wire.ts'

/** Runs SQL on PGlite. */
export interface PGliteStatements {
  run<R>(sql: string, parameters: readonly unknown[]): Promise<{ rows: R[]; affected: number }>
}

interface Prepared {
  name: string
  parameterTypes: number[]
  /** The columns of its rows; none for a statement without rows. */
  columns: Column[]
  untilMs: number
}

/**
 * A prepared statement is kept for as long as the ledger had been open when it was made, within these bounds. Its plan suits the
 * tables as they were, and one for an empty ledger reads all of a full one: in so much time they hardly more than double. Planning
 * takes longer than running, and the first five runs of a statement are planned each for itself.
 */
const leastAgeMs = 5_000
const mostAgeMs = 60_000
const maxPrepared = 200
/** These change no description of a row. Where they change statistics or an index, the database itself plans again. */
const changesNoTable = /^\s*(begin|commit|rollback|savepoint|release|analyze|vacuum|checkpoint|reindex)\b/i
/**
 * Rows that go as one parameter: nothing about them is known before they are read, so that the plan is the same each time. The
 * database would plan most of these statements anew for each run. It compares what the plan would cost today with the mean of
 * earlier ones, and those were made while the tables were smaller.
 */
const hasOnePlan = /\bjsonb_to_recordset\(\$/
const onePlan = unnamed('set plan_cache_mode = force_generic_plan')
const anyPlan = unnamed('set plan_cache_mode = auto')
const sync = protocol.serialize.sync()

/** Has a statement without parameters or rows run in the same exchange as another. */
function unnamed(text: string): Uint8Array {
  const { serialize } = protocol
  return Buffer.concat([serialize.parse({ text }), serialize.bind({}), serialize.execute({})])
}

const changedRows = /^(?:insert 0|update|delete|merge) (\d+)$/i

/**
 * Runs statements as named prepared statements. PGlite's own `query` parses and plans each statement again, in six calls
 * into WebAssembly. Here a repeated statement takes one call and no planning. The results are the same.
 */
export function createPGliteStatements(client: PGlite): PGliteStatements {
  const preparedBySql = new Map<string, Prepared>()
  const openedMs = performance.now()
  let made = 0

  async function runPrepared<R>(sql: string, parameters: readonly unknown[]) {
    return client.runExclusive(async () => {
      const before = preparedBySql.get(sql)
      const isOld = before !== undefined && performance.now() > before.untilMs
      if (before && isOld) await drop(sql, before)
      const prepared = before && !isOld ? before : await prepare(sql)
      const values = parameters.map((value, index) => toText(value, prepared.parameterTypes[index]))
      const run = bindAndExecute(prepared.name, values)
      // An error takes the setting back with its transaction.
      const parts = hasOnePlan.test(sql) ? [onePlan, run, anyPlan] : [run]
      const { rows, tags } = await exchange([...parts, sync], prepared.columns).catch(
        async (error: unknown) => {
          // The tables may have changed since it was prepared, so after any error it is prepared again.
          await drop(sql, prepared)
          throw error
        },
      )
      await client.syncToFs()
      const affected = tags.reduce((sum, tag) => sum + Number(changedRows.exec(tag)?.[1] ?? 0), 0)
      return { rows: rows as R[], affected }
    })
  }

  async function prepare(sql: string): Promise<Prepared> {
    if (preparedBySql.size >= maxPrepared) {
      const [oldest] = preparedBySql as unknown as Iterable<[string, Prepared]>
      if (oldest) await drop(...oldest)
    }
    made += 1
    const atMs = performance.now()
    const name = `p${made}`
    const { serialize } = protocol
    const parts = [serialize.parse({ name, text: sql }), serialize.describe({ type: 'S', name }), sync]
    const { messages } = await client.execProtocol(Buffer.concat(parts), { syncToFs: false })
    const description = messages.find((message) => message instanceof kinds.RowDescriptionMessage)
    const prepared: Prepared = {
      name,
      parameterTypes: parse.parseDescribeStatementResults(messages),
      columns: description ? columnsOf(client, description.fields) : [],
      untilMs: atMs + Math.min(Math.max(atMs - openedMs, leastAgeMs), mostAgeMs),
    }
    preparedBySql.set(sql, prepared)
    return prepared
  }

  async function drop(sql: string, { name }: Prepared): Promise<void> {
    preparedBySql.delete(sql)
    const { serialize } = protocol
    // Fails inside a failed transaction. The statement then stays in the database, under a name that is not used again.
    await exchange([serialize.close({ type: 'S', name }), sync]).catch(() => {})
  }

  /** Called after a statement that may have changed a table. */
  async function dropAll(): Promise<void> {
    if (preparedBySql.size === 0) return
    preparedBySql.clear()
    await client.exec('deallocate all')
  }

  /** Sends all parts in one call. After an error the database skips everything up to the `sync`. */
  async function exchange(parts: readonly Uint8Array[], columns: readonly Column[] = []): Promise<Answered> {
    const chunks: Uint8Array[] = []
    // The bytes are the database's memory until the next chunk.
    const onRawData = (chunk: Uint8Array) => void chunks.push(chunk.slice())
    await client.execProtocolRawStream(Buffer.concat(parts), { syncToFs: false, onRawData })
    return readAnswer(Buffer.concat(chunks), columns)
  }

  function toText(value: unknown, type: number | undefined): string | null {
    if (value === null || value === undefined) return null
    const serialise = client.serializers[type as number]
    return serialise ? (serialise(value) as string) : String(value)
  }

  return {
    async run<R>(sql: string, parameters: readonly unknown[]) {
      if (isPreparable(sql, parameters.length)) return runPrepared<R>(sql, parameters)
      if (parameters.length === 0) {
        const [result] = await client.exec(sql)
        if (!changesNoTable.test(sql)) await dropAll()
        return { rows: (result?.rows ?? []) as R[], affected: result?.affectedRows ?? 0 }
      }
      const { rows, affectedRows } = await client.query<R>(sql, [...parameters])
      return { rows, affected: affectedRows ?? 0 }
    },
  }
}
