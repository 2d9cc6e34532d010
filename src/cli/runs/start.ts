import { assertShared } from '../../app/config/stores/database.ts'
import type { Context } from '../../app/context/context.ts'
import { startProbeServer } from '../../app/health/probe-server.ts'
import { readinessChecks, storeChecks } from '../../app/health/readiness.ts'
import { start, type Role } from '../../app/start.ts'
import { readConfig, stopSignal, withContext } from '../terminal/with-context.ts'
import { liveLine } from '../terminal/live-line.ts'
import { printError } from '../terminal/print.ts'

export async function serve({ role }: { role: Role }): Promise<void> {
  const signal = stopSignal()
  const config = await readConfig()
  assertShared(role, config)
  const probes = config.health && (await startProbeServer(config.health))
  const work = async (context: Context) => {
    const running = await start(context, role)
    // Workers and schedulers wait for the service and the wallet by themselves: an outage of theirs stops no upgrade.
    const checks = role === 'web' || role === 'all' ? readinessChecks : storeChecks
    probes?.setReady(checks(context, await context.openEngine()))
    liveLine.end()
    for (const part of running.parts) printError(`${part}\n`)
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    probes?.setStopping()
    await running.stop()
  }
  try {
    await withContext(work, config, { role })
  } finally {
    await probes?.stop()
  }
}
