import { afterAll, beforeAll, beforeEach } from 'vitest'
import { listActions } from '../../src/app/actions/list-actions.ts'
import { performAction, type ActionOptions } from '../../src/app/actions/perform-action.ts'
import type { Context } from '../../src/app/context/context.ts'
import { knownOfAccount } from '../../src/app/service/known-of-account.ts'
import { planCall } from '../../src/app/service/plan-call.ts'
import { operations, type Operation } from '../../src/domain/words.ts'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse, type House } from '../support/house.ts'
import { createCaller, monitorFields } from './sandbox-monitors.fixture.ts'

const ours = operations.filter((each) => /^(monitor|template)/.test(each))

/** Opens a sandbox and a ledger of its own for the actions of the calling file, which are paid for by API key. */
export function useActions() {
  let sandbox: Sandbox
  let house: House
  let context: Context
  const call = createCaller(() => sandbox.serviceUrl)
  beforeAll(async () => {
    sandbox = await startSandbox()
    house = await openHouse(sandbox, {
      env: { PAYDIRT_API_KEY: API_KEY },
      config: { payment: { maxPricesUsd: Object.fromEntries(ours.map((each) => [each, '0.01'])) } },
    })
    ;({ context } = house)
  })
  afterAll(async () => {
    await house?.close()
    await sandbox?.stop()
  })
  beforeEach(() => void sandbox.faults.reset())

  /** With `settleMs` 0 a request counts as ended as soon as its connection has. */
  async function perform(operation: Operation, body: Record<string, unknown>, options: ActionOptions = {}) {
    const known = await knownOfAccount(context, { asks: false })
    const planned = planCall(context.config, { operation, body, isUnchecked: true }, known)
    return performAction(context, planned, { settleMs: 0, ...options })
  }

  return {
    get sandbox() {
      return sandbox
    },
    get house() {
      return house
    },
    get context() {
      return context
    },
    call,
    perform,
    async monitors(name: string) {
      const found = []
      for (let page = 1; ; page += 1) {
        const { body } = await call('GET', `/monitors?page=${page}`)
        const rows = body.data['monitors'] as { name: string; monitor_id: string; status: string }[]
        if (rows.length === 0) return found
        found.push(...rows.filter((each) => each.name === name))
      }
    },
    sends: (name: string) => sandbox.stats().byEndpoint[name as never] ?? 0,
    unfinished: async () =>
      (await listActions(context)).map(({ operation, state }) => `${operation} ${state}`),
    async created(name: string) {
      const end = await perform('monitor.create', monitorFields({ name }))
      return (end as { fact: { data: Record<string, { monitor_id: string }> } }).fact.data['data']!.monitor_id
    },
    cut: (only: string, before = false) =>
      sandbox.faults.set({ [before ? 'dropBeforeAction' : 'dropAfterAction']: { next: 1, only: [only] } }),
  }
}
