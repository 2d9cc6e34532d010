import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Order } from './judge-process.ts'
import type { Mutant } from './mutate.ts'

export interface Judge {
  /** Runs every test without a mutant; returns the test that fails even so. */
  baseline(): Promise<string | undefined>
  /** Returns the test that notices the mutant; undefined when none does. */
  noticedBy(mutant: Mutant, source: string): Promise<string | undefined>
  close(): void
}

/** Runs the unit tests of the given folders in a process of their own, and a new one after a mutant that never ends. */
export function createJudge(folders: readonly string[]): Judge {
  let process: Promise<ChildProcess> | undefined
  let timeoutMs = 600_000

  async function start(): Promise<ChildProcess> {
    const child = fork(join(import.meta.dirname, 'judge-process.ts'), folders, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(child, 'message')
    return child
  }

  async function ask(order: Order): Promise<string | undefined> {
    const child = await (process ??= start())
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    try {
      child.send(order)
      const [answer] = (await once(child, 'message', { signal: timeout.signal })) as [{ by?: string }]
      return answer.by
    } catch (error) {
      if (!timeout.signal.aborted) throw error
      child.kill('SIGKILL')
      process = undefined
      return 'it never ended'
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async baseline() {
      const startedAt = Date.now()
      const by = await ask({})
      timeoutMs = Math.max(60_000, 4 * (Date.now() - startedAt))
      return by
    },
    noticedBy: (mutant, source) => ask({ mutant, source }),
    close: () => void process?.then((child) => child.disconnect()),
  }
}
