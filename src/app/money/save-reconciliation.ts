import { formatUsd, parseUsd, type Atomic } from '../../domain/money.ts'
import { saveReconciliation } from '../../store/chain/reconciliations.ts'
import type { Context } from '../context/context.ts'
import { pause } from '../../timing/pause.ts'
import { reconcileAndHeal } from './heal-charges.ts'
import { reconcile, type Difference, type Reconciliation } from './reconcile.ts'

/**
 * Resolves charges in doubt, compares the ledger with the chain, heals charges that were closed by mistake, and saves the
 * result. A payment that is under way is no difference; what else is not seen again after `restMs`, such as a transfer in a
 * block that was replaced, does not count either.
 */
export async function reconcileAndSave(
  context: Context,
  wallet: string,
  { restMs, signal }: { restMs: number; signal: AbortSignal },
): Promise<Reconciliation> {
  const engine = await context.openEngine()
  await engine.resolve(0)
  let result: Reconciliation = await reconcileAndHeal(context, wallet, () => engine.resolve(0))
  if (result.differences.length > 0) {
    const before = new Set(result.differences.map(nameOf))
    await pause(restMs, signal)
    await engine.resolve(0)
    const again = await reconcile(context, wallet)
    const differences = again.differences.filter((difference) => before.has(nameOf(difference)))
    result = { ...again, differences, difference: formatUsd(total(differences)) }
  }
  await saveReconciliation(
    context.database.db,
    {
      at: context.now(),
      differenceAtomic: signed(result.difference),
      differences: result.differences.length,
      inDoubtAtomic: parseUsd(result.ledger.inDoubt),
    },
    result,
  )
  return result
}

function nameOf({ kind, charge, transaction, logIndex }: Difference): string {
  return `${kind}/${transaction ?? charge}/${logIndex ?? charge}`
}

/** Returns the amounts on the chain less those in the ledger. */
function total(differences: readonly Difference[]): Atomic {
  return differences.reduce((sum, { chain, ledger }) => sum + parseUsd(chain) - parseUsd(ledger), 0n)
}

function signed(text: string): Atomic {
  return text.startsWith('-') ? -parseUsd(text.slice(1)) : parseUsd(text)
}
