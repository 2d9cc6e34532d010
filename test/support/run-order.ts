import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { shortProcess } from './short-process.ts'

/**
 * Runs a script of this folder as a process that gets an order as its argument, and may be killed. Returns the signal that ended it, and
 * the JSON document that it printed, if it came so far.
 */
export async function runOrder<Printed>(
  script: string,
  order: unknown,
): Promise<{ signal: string | null; printed: Printed | undefined }> {
  const child = spawn(
    process.execPath,
    [...shortProcess, join(import.meta.dirname, script), JSON.stringify(order)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      },
    },
  )
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { signal, printed: text === '' ? undefined : (JSON.parse(text) as Printed) }
}
