import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { pause } from '../../timing/pause.ts'

/** Work that somebody waits for. */
interface Urgent {
  isOver: boolean
}

const urgent = new AsyncLocalStorage<Urgent>()
const underWay = new Set<Urgent>()
/** Those of them that need this process or its ledger at this moment. */
const atWork = new Set<Urgent>()
const waiting = new Set<() => void>()

/**
 * Has the statements of `work` go ahead of others that wait for the one connection of the embedded ledger: the answer to a delivery,
 * and all that a press needs, for somebody waits for its end. On a server every statement has a connection, and the transactions of a press are planned once (postgres/dialect.ts).
 * Others give way to it until it has ended. What it leaves behind goes first too, and needs a call of its own for others to give way to it.
 */
export async function goFirst<T>(work: () => Promise<T>): Promise<T> {
  const mine: Urgent = { isOver: false }
  underWay.add(mine)
  atWork.add(mine)
  try {
    return await urgent.run(mine, work)
  } finally {
    mine.isOver = true
    underWay.delete(mine)
    leave(mine)
  }
}

export function goesFirst(): boolean {
  return urgent.getStore() !== undefined
}

/** Waits for the CRM or the service. A press needs hardly anything here meanwhile. */
export async function waitOutside<T>(work: () => Promise<T>): Promise<T> {
  const mine = urgent.getStore()
  if (!mine) return work()
  leave(mine)
  try {
    return await work()
  } finally {
    if (!mine.isOver) atWork.add(mine)
  }
}

/** The waits of one piece of other work for presses. */
export interface GiveWay {
  /** Before something long: resolves when no press is under way in this process, because its answer would come in the middle. */
  begin(): Promise<void>
  /** Before something short: resolves when none is at work in this process. One that waits for the CRM or the service is not. */
  goOn(): Promise<void>
}

/** All waits of each kind together take `mostMs` at most. */
export function giveWay(mostMs: number): GiveWay {
  return { begin: waitsFor(underWay, mostMs), goOn: waitsFor(atWork, mostMs) }
}

/** Work that takes the processors or the ledger for long begins when no press is under way in this process, or a little later. */
export function afterPresses<T>(work: () => Promise<T>, mostMs = 500): () => Promise<T> {
  return async () => {
    await giveWay(mostMs).begin()
    return work()
  }
}

function waitsFor(presses: ReadonlySet<Urgent>, mostMs: number): () => Promise<void> {
  let leftMs = mostMs
  return async () => {
    while (presses.size > 0 && leftMs > 0) {
      const sinceMs = performance.now()
      const quiet = new AbortController()
      const end = () => quiet.abort()
      waiting.add(end)
      await pause(leftMs, quiet.signal)
      waiting.delete(end)
      // A press that goes from one step to the next is at work again within the turn.
      await setImmediate()
      leftMs -= performance.now() - sinceMs
    }
  }
}

function leave(mine: Urgent): void {
  atWork.delete(mine)
  if (atWork.size === 0) for (const end of waiting) end()
}
