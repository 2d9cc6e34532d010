import type { Connector } from '../../connectors/connector.ts'
import { describeError } from '../../domain/errors.ts'
import { startPollLoop, type PollLoop } from '../../timing/poll-loop.ts'
import { openConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { workDueMatches } from './work-match.ts'
import { moduleLog } from '../context/log.ts'

const pauseMs = 5_000
const atOnce = 5

/** Works the matches of declared monitors as they come due, until it is stopped. Undefined: no monitor declares anything to do. */
export async function startMatches(context: Context): Promise<{ stop(): Promise<void> } | undefined> {
  const { monitors = {} } = context.config
  if (Object.values(monitors).every(({ onMatch }) => onMatch === undefined)) return undefined
  const own = new Map<string, Connector>()
  const stopping = new AbortController()
  const onError = (error: unknown) =>
    moduleLog(context.log, 'monitors').warn({ problem: describeError(error) }, 'a match has failed')

  async function connectorOf(name: string): Promise<Connector> {
    const known = context.connectors.get(name) ?? own.get(name)
    if (known) return known
    const opened = await openConnector(context.config, name, await context.openEngine())
    own.set(name, opened)
    return opened
  }

  const loop: PollLoop = startPollLoop({
    name: 'work matches',
    // A match buys people and writes records, and a CRM may let it wait.
    longestMs: 21_600_000,
    work: async () =>
      void (await workDueMatches(context, { signal: stopping.signal, connectorOf, onError, limit: atOnce })),
    pauseMs,
    onError,
  })
  return {
    async stop() {
      stopping.abort()
      await loop.stop()
      for (const connector of own.values()) await connector.close()
    },
  }
}
