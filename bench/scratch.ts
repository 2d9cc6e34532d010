import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Puts everything that this run writes to temporary folders into one, also what its processes write, and removes that when
 * the run ends, be it by Ctrl-C. `onBreak` is called first then: what has been measured is not lost.
 */
export function useScratch(onBreak: () => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'pdb-'))
  // Postgres runs as another user when this is run as root, and must pass through.
  chmodSync(folder, 0o711)
  process.env['TMPDIR'] = folder
  // Processes of the run end when this one has, and may write until then.
  process.once('exit', () =>
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  )
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    process.once(signal, () => {
      onBreak()
      process.exit(status)
    })
}
