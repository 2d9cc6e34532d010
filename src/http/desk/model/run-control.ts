import { foregroundSources, keepsValues as keepsItsValues } from '../../../connectors/definitions.ts'
import type { Database } from '../../../store/database/database.ts'
import type { RunState } from '../../../store/database/tables/states.ts'
import { isUnderWay, stopOf, type RunStop } from '../../../store/runs/run-stops.ts'
import type { Atomic } from '../../../domain/money.ts'
import type { StepPrice } from '../../../domain/planning/prices.ts'
import { retryableOf } from '../../../store/views/desk-failures.ts'
import { waitingBySlot, type RunHead } from '../../../store/views/desk-runs.ts'

/** The state of a run, active or stopped, and the person who stopped it. */
export interface RunControl {
  id: string
  state: RunState
  /** Undefined when no person stopped it. */
  stop: RunStop | undefined
  /** A request is on its way, or a record is complete and not yet written. */
  isUnderWay: boolean
  /** Its rest is continued by the command that began it, and not by the workers. */
  needsCommand: boolean
  /** The lookups for which its records wait, and their cost; undefined where it was not asked for. */
  waits?: { lookups: number; atMostAtomic: Atomic } | undefined
}

export async function readRunControl(
  db: Database,
  { id, state, connector }: { id: string; state: RunState; connector: string },
): Promise<RunControl> {
  const stop = await stopOf(db, id)
  return {
    id,
    state,
    stop,
    isUnderWay: state === 'stopped' && (await isUnderWay(db, id)),
    needsCommand: foregroundSources().includes(connector),
  }
}

/** Returns what the records of a run wait for, at the price of each step, or at its cap where no price is known. */
export async function readWaits(
  db: Database,
  id: string,
  prices: readonly StepPrice[],
): Promise<RunControl['waits']> {
  const bySlot = new Map(
    prices.map(({ step, priceAtomic, capAtomic }) => [step, priceAtomic ?? capAtomic] as const),
  )
  const waiting = await waitingBySlot(db, id)
  return {
    lookups: waiting.reduce((sum, { lookups }) => sum + lookups, 0),
    atMostAtomic: waiting.reduce(
      (sum, { slot, lookups }) => sum + BigInt(lookups) * (bySlot.get(slot) ?? 0n),
      0n,
    ),
  }
}

/** The actions on a run besides stopping it. */
export interface RunChoices {
  /** Failed records that a retry takes up. */
  retryable: number
  /** Values were written into a CRM, and an undo can restore what they replaced. */
  isUndoable: boolean
}

export async function readRunChoices(
  db: Database,
  run: RunHead,
  { written, connectors }: { written: number; connectors: readonly string[] },
): Promise<RunChoices> {
  const keepsValues = keepsItsValues(run.connector)
  return { retryable: await retryableOf(db, run.id, connectors), isUndoable: keepsValues && written > 0 }
}
