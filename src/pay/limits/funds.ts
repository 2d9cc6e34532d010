import { errorCode } from '../../domain/error-codes.ts'
import { BudgetExhaustedError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'

export interface FundsOptions {
  address: string
  balanceOf: (address: string) => Promise<Atomic>
  now: () => Date
}

/** Refuses to sign payments that the wallet cannot cover. */
export interface Funds {
  /** Throws BudgetExhaustedError `wallet_empty` when the wallet cannot cover one more payment of this amount. */
  assertCover(amountAtomic: Atomic): Promise<void>
  /** Called when the server found the wallet empty: nothing is signed until the balance has been read again. */
  foundEmpty(): BudgetExhaustedError
}

const rereadMs = 15_000
const pauseMs = 60_000

/**
 * Keeps an estimate of the wallet: the last balance read, less the amounts promised since. A signature beyond the
 * balance would create an authorization that cannot settle and that blocks its lookup until it expires. When the chain
 * does not answer, the server's refusal decides instead.
 */
export function createFunds({ address, balanceOf, now }: FundsOptions): Funds {
  let left: Atomic | undefined
  let readAtMs = -Infinity
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    readAtMs = now().getTime()
    left = await balanceOf(address).catch(() => undefined)
  }

  function empty(amountAtomic?: Atomic): BudgetExhaustedError {
    const held = left === undefined ? 'no funds' : `${formatUsd(left < 0n ? 0n : left)} USDC`
    return new BudgetExhaustedError(
      errorCode.walletEmpty,
      `the wallet ${address} holds ${held}, too little for the next lookup: send it USDC on Base`,
      {
        resumesAt: new Date(now().getTime() + pauseMs),
        details: amountAtomic === undefined ? {} : { amount: String(amountAtomic) },
      },
    )
  }

  return {
    async assertCover(amountAtomic) {
      const ageMs = now().getTime() - readAtMs
      const short = left !== undefined && left < amountAtomic
      if (ageMs > rereadMs || (short && ageMs > 2_000))
        await (reading ??= read().finally(() => (reading = undefined)))
      else await reading
      if (left === undefined) return
      if (left < amountAtomic) throw empty(amountAtomic)
      left -= amountAtomic
    },
    foundEmpty() {
      left = 0n
      readAtMs = now().getTime()
      return empty()
    },
  }
}
