// Holds the warm tests for main.ts, which ends this process when a mutant never does.

import type { Mutant } from './mutate.ts'
import { startTests } from './run-tests.ts'

export interface Order {
  /** Absent: run everything without a mutant. */
  mutant?: Mutant
  source?: string
}

const tests = await startTests(process.argv.slice(2))

process.on('message', ({ mutant, source }: Order) => {
  const judged = mutant && source !== undefined ? tests.firstFailureWith(mutant, source) : tests.baseline()
  void judged.then(
    (by) => process.send?.({ by }),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.once('disconnect', () => process.exit(0))
process.send?.('ready')
