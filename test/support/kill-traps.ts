import { subscribe } from 'node:diagnostics_channel'
import type { Overrides } from '../../src/app/context/context.ts'
import type { ActionKill, ActionPoint } from './action-order.ts'

/** Ends this process with a signal that cannot be caught when it passes the point for the nth time. */
export function traps(plan: ActionKill | undefined): Overrides {
  let seen = 0
  function pass(point: ActionPoint): void {
    if (plan?.point !== point) return
    seen += 1
    if (seen === plan.nth) process.kill(process.pid, 'SIGKILL')
  }
  subscribe('undici:request:bodySent', () => pass('body sent'))
  return {
    journal: (journal) => ({
      ...journal,
      async reserve(charge) {
        pass('before the charge')
        const reserved = await journal.reserve(charge)
        pass('after the charge')
        return reserved
      },
      async markSent(...args) {
        pass('before the charge is sent')
        return journal.markSent(...args)
      },
      async markInDoubt(...args) {
        pass('before the doubt')
        await journal.markInDoubt(...args)
        pass('after the doubt')
      },
      async settleCharge(...args) {
        pass('before the answer is stored')
        await journal.settleCharge(...args)
        pass('after the answer is stored')
      },
    }),
    send: (send) => async (request) => {
      pass('before the send')
      const answer = await send(request)
      pass('after the answer')
      return answer
    },
  }
}
