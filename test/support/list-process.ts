// The plan of a list in a process of its own, which kills itself at the point of its order. It prints one line of JSON at the end.
import { subscribe } from 'node:diagnostics_channel'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { openConnector } from '../../src/app/context/connectors.ts'
import { createContext } from '../../src/app/context/context.ts'
import { applyList } from '../../src/app/lists/making/apply-list.ts'
import { readPlan } from '../../src/app/runs/apply-plan.ts'
import { ConfigError } from '../../src/domain/errors.ts'

export interface ListOrder {
  env: Record<string, string | undefined>
  file: Record<string, unknown>
  planId: string
  /** `request` and `answer`: at the nth of the CRM. `time`: after so many milliseconds. */
  kill?: { point: 'request' | 'answer' | 'time'; nth: number }
}

const { env, file, planId, kill } = JSON.parse(process.argv[2] ?? '') as ListOrder

// The parent process holds the standard input, so this process never outlives an aborted test.
process.stdin.on('end', () => process.exit(1)).resume()

const config = resolveConfig(readEnvironment(env), fileSchema.parse(file))
const context = await createContext(config)
const plan = await readPlan(context, planId).catch((error: unknown) => {
  // Killed after the run had ended: there is nothing left to do.
  if (!(error instanceof ConfigError) || error.code !== 'plan_applied') throw error
  process.stdout.write(`${JSON.stringify({ end: 'finished' })}\n`)
  process.exit(0)
})
const connector = await openConnector(config, plan.connector, context)
let seen = 0
function pass(point: 'request' | 'answer'): void {
  if (kill?.point !== point) return
  seen += 1
  if (seen === kill.nth) process.kill(process.pid, 'SIGKILL')
}
subscribe('undici:request:bodySent', () => pass('request'))
subscribe('undici:request:trailers', () => pass('answer'))
if (kill?.point === 'time') setTimeout(() => process.kill(process.pid, 'SIGKILL'), kill.nth)
const applied = await applyList(context, plan, { connector, signal: new AbortController().signal })
await connector.close()
await context.close()
process.stdout.write(`${JSON.stringify(applied)}\n`, () => process.exit(0))
