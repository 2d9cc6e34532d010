// `paydirt monitors apply` in a process of its own, which kills itself at the point of its order. It prints one line of JSON with the
// ends of its steps.
import { subscribe } from 'node:diagnostics_channel'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { createContext } from '../../src/app/context/context.ts'
import { applyMonitors } from '../../src/app/monitors/apply-monitors.ts'
import { compareMonitors } from '../../src/app/monitors/compare-monitors.ts'
import { applyPoints, type ActionKill, type ApplyOrder } from './action-order.ts'
import { traps } from './kill-traps.ts'

const { env, file, settleMs, replace, kill } = JSON.parse(process.argv[2] ?? '') as ApplyOrder

// The parent process holds the standard input, so this process never outlives an aborted test.
process.stdin.on('end', () => process.exit(1)).resume()

const opened = await createContext(
  resolveConfig(readEnvironment(env), fileSchema.parse(file)),
  traps(isOwn(kill) ? undefined : kill),
)
const context = isOwn(kill) ? { ...opened, database: { ...opened.database, db: trapped() } } : opened
await context.openEngine()
if (kill?.point === 'time') setTimeout(die, kill.nth)
if (kill?.point === 'monitor asked for')
  subscribe('undici:request:bodySent', (sent) => {
    const { method, path } = (sent as { request: { method: string; path: string } }).request
    if (method === 'POST' && path.endsWith('/monitors')) die()
  })
const { signal } = new AbortController()
const { steps } = await compareMonitors(context, { signal })
const applied = await applyMonitors(context, steps, { prune: false, replace, signal, settleMs })
await opened.close()
const printed = { steps: applied.map(({ step, state }) => ({ do: step.do, state })) }
process.stdout.write(`${JSON.stringify(printed)}\n`, () => process.exit(0))

function isOwn(plan: ApplyOrder['kill']): plan is Exclude<ApplyOrder['kill'], ActionKill | undefined> {
  return plan !== undefined && applyPoints.some((point) => point === plan.point)
}

function die() {
  process.kill(process.pid, 'SIGKILL')
}

/** Kills this process at the note of the new monitor: before its statement, or before its transaction ends. */
function trapped() {
  let isNoting = false
  return opened.database.db.withPlugin({
    transformQuery({ node }) {
      isNoting = node.kind === 'InsertQueryNode' && node.into?.table.identifier.name === 'declared_monitors'
      if (isNoting && kill?.point === 'before the note') die()
      return node
    },
    transformResult({ result }) {
      if (isNoting && kill?.point === 'within the note') die()
      return Promise.resolve(result)
    },
  })
}
