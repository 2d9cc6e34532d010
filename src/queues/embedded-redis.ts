import { createServer, type AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'

/**
 * Starts Valkey inside this process, on a free port of the loopback address. It persists nothing: SQL holds the truth.
 */
export async function startEmbeddedRedis(): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort()
  const thread = new Worker(new URL('./embedded-redis-thread.ts', import.meta.url), {
    workerData: { port },
    execArgv: ['--no-warnings'],
  })
  const failed = once(thread, 'error').then(([error]) => {
    throw error
  })
  await Promise.race([once(thread, 'message'), failed])
  failed.catch(() => {})
  thread.unref()
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      const ended = once(thread, 'exit')
      thread.postMessage('stop')
      await ended
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
