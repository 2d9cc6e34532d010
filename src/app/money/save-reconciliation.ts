import { formatUsd, parseUsd, type Atomic } from '../../domain/money.ts'
import { saveReconciliation } from '../../store/ledger/reconciliations.ts'
import type { Context } from '../context/context.ts'
import { pause } from '../../timing/pause.ts'
import { reconcile, type Difference, type Reconciliation } from './reconcile.ts'

/**
 * Settles what can be settled, holds the ledger against the chain, and keeps what was found. A payment that is on its way
 * while the two are read looks like a difference: only what is still there after `restMs` counts as one.
 */
export async function reconcileAndSave(
  context: Context,
  wallet: string,
  { restMs, signal }: { restMs: number; signal: AbortSignal },
): Promise<Reconciliation> {
  const engine = await context.openEngine()
  await engine.resolve(0)
  let result = await reconcile(context, wallet)
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

function nameOf({ kind, charge, transaction }: Difference): string {
  return `${kind}/${transaction ?? charge}`
}

/** Chain less ledger. */
function total(differences: readonly Difference[]): Atomic {
  return differences.reduce((sum, { chain, ledger }) => sum + parseUsd(chain) - parseUsd(ledger), 0n)
}

function signed(text: string): Atomic {
  return text.startsWith('-') ? -parseUsd(text.slice(1)) : parseUsd(text)
}
