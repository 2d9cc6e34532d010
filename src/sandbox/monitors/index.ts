import type { Account } from '../accounts.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { Holdings } from '../http/account.ts'
import type { DirectEndpoint } from '../http/direct.ts'
import { withFaults } from './action.ts'
import { createTemplates } from './templates.ts'

export interface Monitors {
  endpoints: DirectEndpoint[]
  holdings(account: Account): Holdings
  /** Ends what is delayed. */
  stop(): void
}

/** The monitors and channel templates of one sandbox, kept in memory. */
export function createMonitors({ faults, now }: { faults: FaultSwitch; now: () => Date }): Monitors {
  const stopping = new AbortController()
  const templates = createTemplates({ now })
  return {
    endpoints: [
      ...templates.read,
      ...templates.actions.map((action) => withFaults(action, faults, stopping.signal)),
    ],
    holdings: (account) => ({ monitors: 0, channelTemplates: templates.count(account) }),
    stop: () => stopping.abort(),
  }
}
