import { privateKeyToAccount } from 'viem/accounts'
import { chargesToDecide } from '../../store/ledger/close-charges.ts'
import type { Context } from '../context/context.ts'
import { accountCount } from './account-count.ts'
import { reconcile } from './reconcile.ts'
import { serviceCounts } from './service-count.ts'

/**
 * Compares the ledger with the chain, the service's counts and the account, and resolves nothing: the process that holds the
 * ledger resolves payments in doubt itself.
 */
export async function compareOnly(context: Context, options: { isFull: boolean }) {
  const { walletKey, apiKey } = context.config
  return {
    reconciliation:
      walletKey === undefined
        ? undefined
        : await reconcile(context, privateKeyToAccount(walletKey).address, options),
    service: await serviceCounts(context),
    account: apiKey ? await accountCount(context, await context.openEngine()) : undefined,
    toDecide: await chargesToDecide(context.database.db, context.now()),
  }
}
