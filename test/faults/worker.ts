import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { RunEnd } from '../../src/app/runs/run-to-end.ts'
import { shortProcess } from '../support/short-process.ts'
import type { WorkerOrder } from './kill-plan.ts'

export interface WorkerEnd {
  signal: NodeJS.Signals | null
  status: number | null
  /** Only for a process that reached the end of its run. */
  end?: RunEnd
  output: string
}

export interface Worker {
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<WorkerEnd>
  /** Resolves when the kernel has stopped the process. */
  stopped(): Promise<void>
}

export function startWorker(order: WorkerOrder): Worker {
  const child = spawn(
    process.execPath,
    [...shortProcess, join(import.meta.dirname, 'worker-process.ts'), JSON.stringify(order)],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        NODE_NO_WARNINGS: '1',
      },
    },
  )
  const chunks: { stdout: string; all: string } = { stdout: '', all: '' }
  child.stdin.on('error', () => {})
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    chunks.stdout += text
    chunks.all += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (chunks.all += text))
  const ended = once(child, 'close').then(([status, signal]): WorkerEnd => {
    const line = chunks.stdout.trim().split('\n').at(-1) ?? ''
    const result = status === 0 ? (JSON.parse(line) as { end?: RunEnd }) : {}
    return {
      status: status as number | null,
      signal: signal as NodeJS.Signals | null,
      output: chunks.all,
      ...result,
    }
  })
  return {
    kill: (signal) => void child.kill(signal),
    ended,
    async stopped() {
      const { readFile } = await import('node:fs/promises')
      for (;;) {
        const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => undefined)
        if (stat === undefined) throw new Error('the worker ended instead of being stopped')
        if (stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) === 'T') return
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
  }
}
