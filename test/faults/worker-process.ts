// One enrichment in a process of its own, which ends itself at the point of its order (see kill-plan.ts). It prints one
// line of JSON when the run has ended.
import { resolveConfig } from '../../src/app/config/config.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { createContext } from '../../src/app/context/context.ts'
import { enrichCsv, openInput } from '../../src/app/runs/enrich-csv.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { createTraps } from './traps.ts'
import type { WorkerOrder } from './kill-plan.ts'

const order = JSON.parse(process.argv[2] ?? '') as WorkerOrder

// The parent process holds the standard input, so this process never outlives an aborted test.
process.stdin.on('end', () => process.exit(1)).resume()

const settled = resolveConfig(readEnvironment(order.env), fileSchema.parse(order.file))
const config = {
  ...settled,
  authorizationSeconds: order.authorizationSeconds ?? settled.authorizationSeconds,
}
const context = await createContext(config, {
  ...createTraps(order.kill),
  now: () => new Date(Date.now() + order.clockAheadMs),
})
const done = order.task === 'run' ? await run() : await reconcile()
await context.close()
process.stdout.write(`${JSON.stringify(done)}\n`, () => process.exit(0))

async function run() {
  const csv = await openInput(config, { input: order.input, object: 'company' })
  const { end } = await enrichCsv(context, csv, { out: order.out, signal: new AbortController().signal })
  return { end }
}

async function reconcile() {
  const { resolve } = await context.openEngine()
  return { resolution: await resolve(0) }
}
