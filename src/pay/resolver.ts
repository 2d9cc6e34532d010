import { PaydirtError, describeError } from '../domain/errors.ts'
import type { OpenCharge } from '../domain/ports/charge-journal.ts'
import type { Payer } from './payer.ts'
import type { Purchase } from './purchase.ts'

export interface ResolverOptions {
  /** Open charges that nobody has touched since `before`, the longest untouched first. */
  openCharges: (before: Date, limit: number) => Promise<OpenCharge[]>
  /** Puts a charge at the end of the line, so that one that cannot be closed does not keep others from their turn. */
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

/** A charge that a worker has in hand is touched at least this often. */
const restMs = 60_000
const pageSize = 100

/**
 * Closes charges that no worker drives any more: those of stopped runs and failed lookups, and those whose answer came
 * without a receipt. Signs nothing and decides nothing that the chain has not said. One pass goes over each charge once.
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
      // One charge that cannot be looked at must not keep the others from being closed.
      options.onError(error instanceof PaydirtError ? describeError(error) : error)
      return false
    }
  }
}
