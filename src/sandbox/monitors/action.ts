import { setTimeout as delay } from 'node:timers/promises'
import type { ActionName } from '../faults/action-faults.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { DirectEndpoint } from '../http/direct.ts'

type ActionFault = 'dropBeforeAction' | 'dropAfterAction' | 'errorAfterAction' | 'slowAction'

export interface Action extends DirectEndpoint {
  name: ActionName
}

/**
 * Returns the action with the faults that can hit it. The service knows no idempotency: what a caller sends again after
 * one of them is done again.
 */
export function withFaults(action: Action, faults: FaultSwitch, stopped: AbortSignal): DirectEndpoint {
  return {
    ...action,
    async answer(ask) {
      const strikes = <N extends ActionFault>(fault: N) => {
        const { only } = faults.current[fault]
        if (only.length > 0 && !only.includes(action.name)) return null
        return faults.strikes(fault, `${action.name} ${ask.text}`)
      }
      if (strikes('dropBeforeAction')) return 'drop'
      const slow = strikes('slowAction')
      if (slow) await delay(slow.beforeMs, undefined, { signal: stopped })
      const answered = await action.answer(ask)
      if (answered === 'drop' || !('data' in answered)) return answered
      if (slow) await delay(slow.afterMs, undefined, { signal: stopped })
      if (strikes('dropAfterAction')) return 'drop'
      const error = strikes('errorAfterAction')
      return error ? { status: error.status, body: { error: 'Unexpected server error' } } : answered
    },
  }
}
