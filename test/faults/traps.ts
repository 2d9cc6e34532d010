import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Overrides } from '../../src/app/context/context.ts'
import type { KillPlan, Point } from './kill-plan.ts'

/**
 * Wraps the journal and the transport and ends this process at the point of the plan, with a signal that cannot be
 * caught, so that nothing is cleaned up. `after-settlement-before-answer` is not here: only the server knows it.
 */
export function createTraps(plan: KillPlan | undefined): Pick<Overrides, 'journal' | 'send'> {
  let seen = 0

  function pass(point: Point): void {
    if (plan?.point !== point) return
    seen += 1
    if (seen === plan.nth) process.kill(process.pid, plan.signal ?? 'SIGKILL')
  }

  return {
    journal: (journal) => ({
      ...journal,
      async reserve(charge) {
        pass('before-journal')
        const journaled = await journal.reserve(charge)
        pass('after-journal')
        return journaled
      },
      async settleCharge(...args) {
        pass('after-answer-before-store')
        await journal.settleCharge(...args)
        pass('after-store')
      },
    }),
    send: (send) => async (request) => {
      if (!isPaid(request.headers)) return send(request)
      pass('before-send')
      const answer = send(request)
      if (plan?.point === 'after-send')
        await handedToSocket(request.body ?? '').then(() => pass('after-send'))
      return answer
    },
  }
}

const proofHeaders = ['payment-signature', 'x-payment', 'authorization', 'payment-authorization']

function isPaid(headers: Record<string, string> = {}): boolean {
  return Object.keys(headers).some((name) => proofHeaders.includes(name.toLowerCase()))
}

/**
 * Undici reports each body that it has written to a socket. From then on the kernel delivers it, even if this process
 * dies.
 */
function handedToSocket(body: string): Promise<void> {
  return new Promise((resolve) => {
    const channel = 'undici:request:bodySent'
    function sent(message: unknown): void {
      if (String((message as { request: { body: unknown } }).request.body) !== body) return
      unsubscribe(channel, sent)
      resolve()
    }
    subscribe(channel, sent)
  })
}
