import type { Config } from '../app/config/config.ts'
import type { Context } from '../app/context/context.ts'
import { queryLedger } from '../app/queries/query-ledger.ts'
import { queries, type InputOf, type QueryName, type ResultOf } from '../app/queries/queries.ts'
import { serveQueries } from '../app/queries/serve-queries.ts'
import { FatalError } from '../domain/errors.ts'

/** The ledger that one object of the library has open, and the order of the work upon it. */
export interface HeldContext {
  /** Does the work when the work before it has ended: a process carries one run out at a time. */
  inTurn<T>(work: (open: (config?: Config) => Promise<Context>) => Promise<T>): Promise<T>
  /** Reads at once where the ledger is open here, also beside a run; else opens it for the moment, or asks its holder. */
  read<N extends QueryName>(name: N, input: InputOf<N>): Promise<ResultOf<N>>
  close(): Promise<void>
}

interface Opened {
  context: Context
  close(): Promise<void>
}

/**
 * Holds the ledger from the first work that writes until `close`. While it is held, commands that only read are answered by
 * this process. Work under other settings (the caps of a plan) has a context of its own: never are two open at once.
 */
export function holdContext(config: Config, open: (config: Config) => Promise<Context>): HeldContext {
  let held: { config: Config; opened: Promise<Opened> } | undefined
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false
  const reads = new Set<Promise<unknown>>()
  const waiting = new Set<() => void>()

  async function openHeld(wanted: Config): Promise<Context> {
    if (held && held.config !== wanted) await release()
    const mine = (held ??= { config: wanted, opened: openServed(wanted, open) })
    for (const begin of waiting) begin()
    try {
      return (await mine.opened).context
    } catch (error) {
      if (held === mine) held = undefined
      throw error
    }
  }

  async function readHeld<N extends QueryName>(name: N, input: InputOf<N>): Promise<ResultOf<N>> {
    const reading = held!.opened.then(({ context }) => {
      const query = queries[name]
      const run = query.run as (context: Context, input: unknown) => Promise<ResultOf<N>>
      return run(context, query.input.parse(input))
    })
    reads.add(reading)
    try {
      return await reading
    } finally {
      reads.delete(reading)
    }
  }

  async function release(): Promise<void> {
    const before = held
    held = undefined
    await Promise.allSettled(reads)
    await (await before?.opened)?.close()
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(() => {
      if (isClosed) throw closedError()
      return work()
    })
    last = done.catch(() => {})
    return done
  }

  return {
    inTurn: (work) => inTurn(() => work((wanted = config) => openHeld(wanted))),
    read(name, input) {
      if (isClosed) return Promise.reject(closedError())
      if (held) return readHeld(name, input)
      // A run that begins before this read's turn opens the ledger: the read then does not wait for the run's end.
      return new Promise((resolve, reject) => {
        let isBegun = false
        const begin = (reading: () => Promise<ResultOf<typeof name>>) => {
          waiting.delete(beginHeld)
          if (isBegun) return undefined
          isBegun = true
          const done = reading()
          resolve(done)
          return done
        }
        const beginHeld = () => void begin(() => readHeld(name, input))
        waiting.add(beginHeld)
        inTurn(async () => begin(() => queryLedger(config, name, input))).catch(reject)
      })
    },
    async close() {
      isClosed = true
      await last
      await release()
    },
  }
}

async function openServed(config: Config, open: (config: Config) => Promise<Context>): Promise<Opened> {
  const context = await open(config)
  try {
    const served = await serveQueries(context)
    return {
      context,
      async close() {
        await served.stop().finally(() => context.close())
      },
    }
  } catch (error) {
    await context.close()
    throw error
  }
}

export function closedError(): FatalError {
  return new FatalError('closed', 'this object was closed: make another one with createPaydirt')
}
