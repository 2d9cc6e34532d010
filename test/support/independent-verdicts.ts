import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { json } from 'node:stream/consumers'
import { join } from 'node:path'

/** Raw data, as the service and the CRM have it: all that a judge outside of the project is told. */
export interface RawCase {
  rows: readonly object[]
  records: readonly { id: string; name: string; domains: readonly string[]; profiles: readonly string[] }[]
  suppressed: readonly string[]
  excluded: readonly string[]
  requires: readonly string[]
}

const script = join(import.meta.dirname, '../../scripts/judge/verdicts.mjs')

/** Returns the verdicts of a script that shares no code with the project, in a process of its own. */
export async function independentVerdicts(given: RawCase): Promise<{ verdict: string; records: string[] }[]> {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'], env: {} })
  const ended = once(child, 'close')
  child.stdin.end(JSON.stringify(given))
  const verdicts = await json(child.stdout)
  const [status] = await ended
  if (status !== 0) throw new Error(`the judge ended with ${String(status)}`)
  return verdicts as { verdict: string; records: string[] }[]
}
