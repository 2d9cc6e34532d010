import { loadConfigFile, resolveConfig, type Config } from '../app/config.ts'
import { createContext, type Context } from '../app/context.ts'
import { loadDotEnv, readEnvironment } from '../app/environment.ts'

/** Reads every setting once, opens the ledger, does the work, and closes whatever was opened, also after an error. */
export async function withContext<T>(
  work: (context: Context) => Promise<T>,
  change: (config: Config) => Config = (config) => config,
): Promise<T> {
  loadDotEnv()
  const config = resolveConfig(readEnvironment(process.env), await loadConfigFile(process.cwd()))
  const context = await createContext(change(config))
  try {
    return await work(context)
  } finally {
    await context.close()
  }
}

/** A signal that fires at the first Ctrl-C or SIGTERM; the second Ctrl-C ends at once, and loses nothing either. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  let asked = false
  function stop(): void {
    if (asked) process.exit(130)
    asked = true
    process.stderr.write('\nstopping: finishing what has been sent (Ctrl-C again to leave at once)\n')
    controller.abort()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return controller.signal
}
