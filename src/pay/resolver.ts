import { PaydirtError, describeError } from '../domain/errors.ts'
import type { OpenCharge } from '../domain/ports/charge-journal.ts'
import type { Payer } from './payer.ts'
import type { Purchase } from './purchase.ts'

export interface ResolverOptions {
  /** Returns the open charges that no process has touched since `before`, the longest untouched first. */
  openCharges: (before: Date, limit: number) => Promise<OpenCharge[]>
  /** Moves a charge to the end of the line, so that a charge that cannot be closed does not block the others. */
  touch: (id: string) => Promise<void>
  payer: Pick<Payer, 'recover'>
  purchaseOf: (charge: OpenCharge) => Purchase
  now: () => Date
  onError: (error: unknown) => void
}

export interface Resolution {
  closed: number
  open: number
}

/** A worker touches the charge it works on at least this often. */
const restMs = 60_000
const pageSize = 100

/**
 * Closes charges that no worker drives any more: those of stopped runs and failed lookups, and those whose answer came
 * without a receipt. It signs nothing and decides nothing that the chain has not confirmed. One pass visits each charge
 * once.
 */
export function createResolver(options: ResolverOptions) {
  return async function resolve(restedMs = restMs): Promise<Resolution> {
    const resolution = { closed: 0, open: 0 }
    const before = new Date(options.now().getTime() - restedMs)
    for (;;) {
      const charges = await options.openCharges(before, pageSize)
      for (const charge of charges) {
        const isClosed = await recover(charge)
        resolution[isClosed ? 'closed' : 'open'] += 1
        if (!isClosed) await options.touch(charge.id)
      }
      if (charges.length < pageSize) return resolution
    }
  }

  async function recover(charge: OpenCharge): Promise<boolean> {
    try {
      return await options.payer.recover(charge, options.purchaseOf(charge), charge.isAnswered)
    } catch (error) {
      // A charge that cannot be checked must not keep the others from being closed.
      options.onError(error instanceof PaydirtError ? describeError(error) : error)
      return false
    }
  }
}
