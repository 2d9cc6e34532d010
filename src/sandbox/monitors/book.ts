import { randomUUID } from 'node:crypto'
import type { Account } from '../accounts.ts'
import type { Monitor, MonitorFields } from './monitor.ts'

export type MonitorBook = ReturnType<typeof createMonitorBook>

/** The monitors of every account. Two with the same fields are two: the service has no idempotency. */
export function createMonitorBook(now: () => Date) {
  const held = new Map<string, { monitor: Monitor; account: Account }>()

  return {
    /** Returns the monitors of an account, the newest first, so that one that is created moves every page. */
    of: (account: Account): Monitor[] =>
      [...held.values()]
        .filter((each) => each.account === account)
        .map(({ monitor }) => monitor)
        .reverse(),
    /** Returns undefined for a monitor of another account. */
    find(account: Account, id: string): Monitor | undefined {
      const found = held.get(id)
      return found?.account === account ? found.monitor : undefined
    },
    /** Returns the monitors of all accounts, the oldest first. */
    all: (): Monitor[] => [...held.values()].map(({ monitor }) => monitor),
    /** Returns a monitor of any account. */
    named: (id: string): Monitor | undefined => held.get(id)?.monitor,
    add(account: Account, fields: MonitorFields): Monitor {
      const at = now().toISOString()
      const monitor = { monitor_id: randomUUID(), ...fields, created_at: at, updated_at: at }
      held.set(monitor.monitor_id, { monitor, account })
      return monitor
    },
    change(monitor: Monitor, fields: MonitorFields): Monitor {
      return Object.assign(monitor, fields, { updated_at: now().toISOString() })
    },
    remove: (monitor: Monitor) => held.delete(monitor.monitor_id),
  }
}
