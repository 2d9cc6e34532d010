import { formatUsd } from '../../domain/money.ts'
import { healCharges, type HealedCharge } from '../../store/ledger/heal-charges.ts'
import type { Context } from '../context/context.ts'
import { reconcile, type Reconciliation } from './reconcile.ts'
import { moduleLog } from '../context/log.ts'

/** A charge that was closed as unpaid by mistake, as a report shows it. */
export interface Healed {
  charge: string
  lookup: string
  transaction: string
  amount: string
  /** Its state now. `in_doubt`: its answer is asked for. */
  state: HealedCharge['state']
}

/** A difference is rare. Hundreds of them have another cause, and are shown. */
const mostTransactions = 100

/**
 * Compares the ledger with the chain. Transfers that the ledger does not know are looked up by the nonces that they used:
 * a charge that was closed as unpaid by mistake is reopened, resolved like any other, and compared again.
 */
export async function reconcileAndHeal(
  context: Pick<Context, 'database' | 'chain' | 'config' | 'now' | 'log'>,
  wallet: string,
  resolve: () => Promise<unknown>,
  options: { isFull?: boolean } = {},
): Promise<Reconciliation & { healed: Healed[] }> {
  const first = await reconcile(context, wallet, options)
  const healed = await heal(context, wallet, first)
  if (healed.length === 0) return { ...first, healed: [] }
  for (const { id, state, transaction } of healed)
    moduleLog(context.log, 'pay').warn(
      { charge: id, state, transaction },
      'a charge closed as unpaid was paid after all',
    )
  await resolve()
  return { ...(await reconcile(context, wallet)), healed: healed.map(shown) }
}

async function heal(
  { database, chain, now }: Pick<Context, 'database' | 'chain' | 'now'>,
  wallet: string,
  { differences }: Reconciliation,
): Promise<HealedCharge[]> {
  const unknown = differences.flatMap(({ kind, transaction }) =>
    kind === 'not_in_ledger' && transaction !== undefined ? [transaction] : [],
  )
  const used = []
  for (const transaction of [...new Set(unknown)].slice(0, mostTransactions)) {
    for (const nonce of await chain.noncesUsedIn(wallet, transaction)) used.push({ nonce, transaction })
  }
  return healCharges(database.db, used, now())
}

function shown({ id, lookupKey, transaction, amountAtomic, state }: HealedCharge): Healed {
  return { charge: id, lookup: lookupKey, transaction, amount: formatUsd(amountAtomic), state }
}
