import { errorCode } from '../../domain/error-codes.ts'
import { ConfigError } from '../../domain/errors.ts'
import { pause } from '../../timing/pause.ts'
import type { Config } from '../config/config.ts'
import { createContext, type Context } from '../context/context.ts'
import { askHolder, type Asked } from './ask-holder.ts'
import { queries, type InputOf, type QueryName, type ResultOf } from './queries.ts'
import { serveQueries } from './serve-queries.ts'

/** The longest that a ledger may be in use by a process that does not listen: a slow machine opens it in seconds. */
const defaultPatienceMs = 10_000
const retryMs = 100

/**
 * Reads from the ledger: opens it, or asks the process that holds it. Throws what the query throws, and the ConfigError of
 * the lock, with what to do, where the holder cannot be asked.
 */
export async function queryLedger<N extends QueryName>(
  config: Config,
  name: N,
  input: InputOf<N>,
  { patienceMs = defaultPatienceMs }: { patienceMs?: number } = {},
): Promise<ResultOf<N>> {
  const giveUpMs = performance.now() + patienceMs
  for (;;) {
    try {
      return await queryOwn(config, name, input)
    } catch (error) {
      if (!isInUse(error)) throw error
      const asked = await askHolder(config.dataDir, name, input)
      if (asked.kind === 'answered') return asked.result as ResultOf<N>
      if (asked.kind !== 'away' || performance.now() > giveUpMs) throw unasked(error, asked)
    }
    await pause(retryMs, new AbortController().signal)
  }
}

/** True for the error of a ledger that another process has open. */
export function isInUse(error: unknown): error is ConfigError {
  return error instanceof ConfigError && error.code === errorCode.dataDirInUse
}

async function queryOwn<N extends QueryName>(
  config: Config,
  name: N,
  input: InputOf<N>,
): Promise<ResultOf<N>> {
  const context = await createContext(config)
  try {
    const served = await serveQueries(context)
    try {
      const query = queries[name]
      const run = query.run as (context: Context, input: unknown) => Promise<ResultOf<N>>
      return await run(context, query.input.parse(input))
    } finally {
      await served.stop()
    }
  } finally {
    await context.close()
  }
}

function unasked(error: ConfigError, asked: Exclude<Asked, { kind: 'answered' }>): ConfigError {
  const why = {
    away: 'It answers no questions: its version has no socket for them, or it is about to begin or end',
    silent: 'It does not answer questions: it may be suspended',
    other_version: `It is of another version (${'version' in asked ? asked.version : ''}): restart it with this one to ask it`,
  }[asked.kind]
  return new ConfigError(error.code, `${error.message}. ${why}`, { cause: error })
}
