import { resolveConfig, type Config } from '../../app/config/config.ts'
import { loadConfigFile } from '../../app/config/file.ts'
import { createContext, type Context } from '../../app/context/context.ts'
import { serveQueries } from '../../app/queries/serve-queries.ts'
import type { Role } from '../../app/start.ts'
import { readWallet, walletFile } from '../../app/config/wallet-file.ts'
import { loadDotEnv, readEnvironment } from '../../app/config/environment.ts'
import type { LogLevel } from '../../app/config/observing/log.ts'
import { createLog } from '../../app/context/log.ts'
import type { OpenedPaydirt } from '../../library/open-paydirt.ts'
import { liveLine } from './live-line.ts'
import { printError } from './print.ts'

/** Reads `.env`, the environment and `paydirt.config.ts` once. Throws ConfigError naming a setting that is not valid. */
export async function readConfig(): Promise<Config> {
  const ownFile = loadDotEnv()
  const config = resolveConfig(readEnvironment(process.env, ownFile), await loadConfigFile(process.cwd()))
  return { ...config, walletKey: config.walletKey ?? (await readWallet(walletFile(config.dataDir))) }
}

/** Returns the level of a command's log: one that says its warnings in words does not print them once more for a person. */
export function levelFor(
  level: LogLevel,
  { saysItself, isTerminal }: { saysItself: boolean; isTerminal: boolean },
): LogLevel {
  return level === 'warn' && saysItself && isTerminal ? 'error' : level
}

/**
 * Opens a context with the current settings, does the work, and closes everything that was opened, also after an error. While
 * it works, other commands can read its ledger by asking it. `saysItself`: the command tells its warnings in words of its own.
 */
export async function withContext<T>(
  work: (context: Context) => Promise<T>,
  config?: Config,
  options: { saysItself?: boolean; role?: Role } = {},
): Promise<T> {
  const context = await openForCommand(config ?? (await readConfig()), options)
  try {
    const served = await serveQueries(context)
    try {
      return await work(context)
    } finally {
      await served.stop()
    }
  } finally {
    await context.close()
  }
}

async function openForCommand(
  settings: Config,
  { saysItself = false, role }: { saysItself?: boolean; role?: Role } = {},
): Promise<Context> {
  liveLine.show('opening the ledger')
  const context = await createContext(settings, {
    log: createLog(
      {
        ...settings.log,
        level: levelFor(settings.log.level, { saysItself, isTerminal: process.stderr.isTTY === true }),
      },
      { onLine: () => liveLine.clear() },
    ),
    ...(role ? { role } : {}),
  })
  liveLine.show('working')
  return context
}

/** Lends the object of the library with the current settings, and releases everything that it opened, also after an error. */
export async function withPaydirt<T>(
  work: (paydirt: OpenedPaydirt) => Promise<T>,
  config?: Config,
): Promise<T> {
  const { openPaydirt } = await import('../../library/open-paydirt.ts')
  const paydirt = openPaydirt(config ?? (await readConfig()), {
    open: (settings) => openForCommand(settings),
    actor: { actor: 'cli', role: 'shell' },
  })
  try {
    return await work(paydirt)
  } finally {
    await paydirt.close()
  }
}

/** Returns a signal that fires at the first Ctrl-C or SIGTERM. A second one ends the process at once, without loss either. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  const onSignal = stopOrEnd({
    stop() {
      printError('\nstopping: waiting for requests that were sent (Ctrl-C again to end at once)\n')
      controller.abort()
    },
    end() {
      liveLine.end()
      process.exit(130)
    },
  })
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return controller.signal
}

/** A Ctrl-C that reaches the whole group comes once more from a starter that passes it on. */
const sameSignalMs = 500

/** Returns a function that stops at its first call, and ends at the first one that is no repetition of that. */
export function stopOrEnd(
  { stop, end }: { stop: () => void; end: () => void },
  nowMs: () => number = () => performance.now(),
): () => void {
  let stoppedAtMs: number | undefined
  return () => {
    if (stoppedAtMs === undefined) {
      stoppedAtMs = nowMs()
      stop()
    } else if (nowMs() - stoppedAtMs >= sameSignalMs) end()
  }
}
