import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { leanEnv, leanFlags } from '../scripts/runtime.mjs'

/** A process of a benchmark. Its cost is measured separately, and it ends with the process that started it. */
export interface Child {
  pid: number
  ask<T>(name: string, argument?: unknown): Promise<T>
  /** Asks the process to end, and waits for that. */
  stop(): Promise<void>
  kill(signal: NodeJS.Signals): void
  ended: Promise<unknown>
}

interface Reply {
  id: number
  answer?: unknown
  error?: string
}

/** Starts `bench/<file>` with an order that it reads with `readOrder`, and waits until it has called `serveParent`. */
export async function startChild(
  file: string,
  order: unknown = {},
  options: { env?: NodeJS.ProcessEnv; execArgv?: string[] } = {},
): Promise<Child> {
  const child = fork(join(import.meta.dirname, file), [JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
    execArgv: ['--no-warnings', ...leanFlags, ...(options.execArgv ?? [])],
    env: { ...leanEnv, ...process.env, ...options.env },
  })
  const ended = once(child, 'exit')
  // Its servers are gone too when this process ends before it, and it would wait for them.
  const abandon = () => void child.kill('SIGKILL')
  process.once('exit', abandon)
  void ended.then(() => process.off('exit', abandon))
  const open = new Map<number, { resolve: (answer: never) => void; reject: (error: Error) => void }>()
  let asked = 0
  const fail = (error: Error) => {
    for (const { reject } of open.values()) reject(error)
    open.clear()
  }
  let gone: Error | undefined
  void ended.then(([status, signal]) => {
    gone = new Error(`${file} ended (${String(status ?? signal)})`)
    fail(gone)
  })
  const isReady = new Promise<void>((resolve, reject) => {
    open.set(0, { resolve: () => resolve(), reject })
  })
  child.on('message', ({ id, answer, error }: Reply) => {
    const waiting = open.get(id)
    open.delete(id)
    if (error === undefined) waiting?.resolve(answer as never)
    else waiting?.reject(new Error(`${file}: ${error}`))
  })
  await isReady
  return {
    pid: child.pid as number,
    ended,
    ask: (name, argument) =>
      new Promise((resolve, reject) => {
        if (gone) return reject(gone)
        asked += 1
        open.set(asked, { resolve: resolve as (answer: never) => void, reject })
        child.send({ id: asked, name, argument })
      }),
    async stop() {
      if (child.connected) child.disconnect()
      await ended
    },
    kill: (signal) => void child.kill(signal),
  }
}

/** Returns the order that the parent passed. */
export function readOrder<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T
}

/** Answers the parent's requests from now on. When the parent disconnects, `onEnd` runs and the process ends. */
export function serveParent(
  answers: Record<string, (argument: never) => unknown>,
  onEnd: () => unknown = () => {},
): void {
  process.on('message', ({ id, name, argument }: { id: number; name: string; argument: never }) => {
    Promise.resolve()
      .then(() => answers[name]?.(argument))
      .then(
        (answer) => process.send?.({ id, answer } satisfies Reply),
        (error: unknown) => process.send?.({ id, error: String((error as Error).stack ?? error) }),
      )
  })
  process.on('disconnect', () => {
    Promise.resolve()
      .then(onEnd)
      .finally(() => process.exit(0))
  })
  process.send?.({ id: 0 } satisfies Reply)
}
