// One action in a process of its own, which kills itself at the point of its order. It prints one line of JSON when the action
// has ended.
import { performAction } from '../../src/app/actions/perform-action.ts'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { createContext } from '../../src/app/context/context.ts'
import { InputError } from '../../src/domain/errors.ts'
import { knownOfAccount } from '../../src/app/service/known-of-account.ts'
import { planCall } from '../../src/app/service/plan-call.ts'
import type { ActionOrder } from './action-order.ts'
import { traps } from './kill-traps.ts'

const { env, file, operation, body, settleMs, kill } = JSON.parse(process.argv[2] ?? '') as ActionOrder

// The parent process holds the standard input, so this process never outlives an aborted test.
process.stdin.on('end', () => process.exit(1)).resume()

const config = resolveConfig(readEnvironment(env), fileSchema.parse(file))
const context = await createContext(config, traps(kill))
const known = await knownOfAccount(context, { asks: false })
const call = planCall(config, { operation, body, isUnchecked: true }, known)
// The store's connections are open and the libraries are loaded: from here on time counts.
await context.openEngine()
if (kill?.point === 'time') setTimeout(() => process.kill(process.pid, 'SIGKILL'), kill.nth)
const state = await performAction(context, call, { settleMs }).then(
  (end) => end.state,
  (error: unknown) => {
    // Killed after it was done: the same call is refused, and names what was made.
    if (error instanceof InputError && error.code === 'action_done') return 'done'
    throw error
  },
)
await context.close()
process.stdout.write(`${JSON.stringify({ state })}\n`, () => process.exit(0))
