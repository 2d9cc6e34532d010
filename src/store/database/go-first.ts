import { AsyncLocalStorage } from 'node:async_hooks'

const urgent = new AsyncLocalStorage<boolean>()

/**
 * Has the statements of `work` go ahead of others that wait for the one connection of the embedded ledger: the answer to a delivery,
 * and all that a press needs, for somebody waits for its end. On a server every statement has a connection, and the transactions of a press are planned once (postgres/dialect.ts).
 */
export function goFirst<T>(work: () => Promise<T>): Promise<T> {
  return urgent.run(true, work)
}

export function goesFirst(): boolean {
  return urgent.getStore() === true
}
