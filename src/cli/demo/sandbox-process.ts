import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { StandInName } from '../../sandbox/stand-ins.ts'

export interface SandboxProcess {
  serviceUrl: string
  logoUrl: string
  rpcUrl: string
  /** The variables of the CRM stand-in, when one was asked for. */
  crm?: Record<string, string>
  /** The address of its records, likewise. */
  crmPageUrl?: string
  stop(): Promise<void>
}

/**
 * Starts the sandbox in a separate process, as the real service would be. It ends when its standard input closes, so also
 * when this process is killed.
 */
export async function startSandboxProcess(options: {
  stateFile?: string | undefined
  crm?: StandInName | undefined
  /** The companies of the service's world that a new CRM has beside its own. */
  known?: number | undefined
}): Promise<SandboxProcess> {
  const main = new URL('../../sandbox/main.ts', import.meta.url).pathname
  const child = spawn(
    process.execPath,
    [main, JSON.stringify({ faults: { paymentIdentifier: true }, ...options })],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      // Ctrl-C must not reach the sandbox: the run needs it to end cleanly.
      detached: true,
    },
  )
  const ended = once(child, 'exit')
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(([code]) => {
      throw new Error(`the sandbox ended at its start (status ${code})`)
    }),
  ])) as [string]
  ended.catch(() => {})
  return {
    ...(JSON.parse(line) as Omit<SandboxProcess, 'stop'>),
    async stop() {
      child.stdin.end()
      child.kill('SIGTERM')
      await ended
    },
  }
}
