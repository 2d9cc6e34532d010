import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { setStage, type Stage } from '../support/payer-stage.ts'

export let database: OpenDatabase
export let stage: Stage

/** Opens one ledger for the calling file and a stage for each of its tests. */
export function usePayerStage(): void {
  let close: () => Promise<void>
  beforeAll(async () => void ({ database, close } = await openFreshLedger()))
  afterAll(() => close())
  beforeEach(async () => void (stage = await setStage(database.db)))
  afterEach(() => {
    // Every place in the shared pace was given back, and the service was asked exactly what the test says.
    const { turns } = stage
    if (turns.done !== turns.taken)
      throw new Error(`${turns.taken} turns were taken, ${turns.done} given back`)
    if (stage.unused() > 0) throw new Error(`${stage.unused()} scripted replies were never asked for`)
  })
}

export const states = async () => (await stage.charges()).map(({ state }) => state)

/** Replaces the stage of the present test by one with other options. */
export async function resetStage(...args: Parameters<typeof setStage>): Promise<void> {
  stage = await setStage(...args)
}
