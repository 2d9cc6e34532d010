import { parse, protocol, type PGlite } from '@electric-sql/pglite'

/** What runs SQL on PGlite. */
export interface PGliteStatements {
  run<R>(sql: string, parameters: readonly unknown[]): Promise<{ rows: R[]; affected: number }>
}

type Messages = Awaited<ReturnType<PGlite['execProtocol']>>['messages']

interface Prepared {
  name: string
  parameterTypes: number[]
  /** How its rows look; empty for a statement without rows. */
  description: Messages
  sinceMs: number
}

/**
 * A plan is made of the tables as they are: one that was made of an empty ledger reads the whole of a full one. So none
 * gets old.
 */
const keptForMs = 5_000
const mostKept = 200
/** Longer ones are lists of values, of another length each time. */
const mostParameters = 40
const transactional = /^\s*(begin|commit|rollback|savepoint|release)\b/i
const preparable = /^\s*(select|insert|update|delete|with)\b/i

/**
 * Statements by name. PGlite's own `query` reads and plans each anew, in six steps into WebAssembly and out again; here one that
 * came before takes one step and no planning. What it answers is the same.
 */
export function createPGliteStatements(client: PGlite): PGliteStatements {
  const kept = new Map<string, Prepared>()
  let made = 0

  async function runPrepared<R>(sql: string, parameters: readonly unknown[]) {
    return client.runExclusive(async () => {
      const before = kept.get(sql)
      const isOld = before !== undefined && performance.now() - before.sinceMs > keptForMs
      if (before && isOld) await drop(sql, before)
      const prepared = before && !isOld ? before : await prepare(sql)
      const { serialize } = protocol
      const values = parameters.map((value, index) => toText(value, prepared.parameterTypes[index]))
      const messages = await exchange([
        serialize.bind({ statement: prepared.name, values }),
        serialize.execute({}),
        serialize.sync(),
      ]).catch(async (error: unknown) => {
        // The tables may have changed under it; whatever it was, the next one is made anew.
        await drop(sql, prepared)
        throw error
      })
      await client.syncToFs()
      const [result] = parse.parseResults([...prepared.description, ...messages], client.parsers)
      return { rows: (result?.rows ?? []) as R[], affected: result?.affectedRows ?? 0 }
    })
  }

  async function prepare(sql: string): Promise<Prepared> {
    if (kept.size >= mostKept) {
      const [oldest] = kept as unknown as Iterable<[string, Prepared]>
      if (oldest) await drop(...oldest)
    }
    made += 1
    const name = `p${made}`
    const { serialize } = protocol
    const messages = await exchange([
      serialize.parse({ name, text: sql }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    ])
    const prepared: Prepared = {
      name,
      parameterTypes: parse.parseDescribeStatementResults(messages),
      description: messages.filter((message) => message.name === 'rowDescription'),
      sinceMs: performance.now(),
    }
    kept.set(sql, prepared)
    return prepared
  }

  async function drop(sql: string, { name }: Prepared): Promise<void> {
    kept.delete(sql)
    const { serialize } = protocol
    // Refused inside a transaction that has failed: then it stays in the database, under a name that does not come again.
    await exchange([serialize.close({ type: 'S', name }), serialize.sync()]).catch(() => {})
  }

  /** A table may have another form now. */
  async function dropAll(): Promise<void> {
    if (kept.size === 0) return
    kept.clear()
    await client.exec('deallocate all')
  }

  /** In one step: what follows an error is passed over by the database up to the `sync`. */
  async function exchange(parts: readonly Uint8Array[]): Promise<Messages> {
    const { messages } = await client.execProtocol(Buffer.concat(parts), { syncToFs: false })
    return messages
  }

  function toText(value: unknown, type: number | undefined): string | null {
    if (value === null || value === undefined) return null
    const serialise = client.serializers[type as number]
    return serialise ? (serialise(value) as string) : String(value)
  }

  return {
    async run<R>(sql: string, parameters: readonly unknown[]) {
      if (parameters.length <= mostParameters && preparable.test(sql)) return runPrepared<R>(sql, parameters)
      if (parameters.length === 0) {
        const [result] = await client.exec(sql)
        if (!transactional.test(sql)) await dropAll()
        return { rows: (result?.rows ?? []) as R[], affected: result?.affectedRows ?? 0 }
      }
      const { rows, affectedRows } = await client.query<R>(sql, [...parameters])
      return { rows, affected: affectedRows ?? 0 }
    },
  }
}
