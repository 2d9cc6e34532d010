import type { ChargeState } from '../../src/domain/payment.ts'
import { hashOf, nonceOf, owner } from '../../src/pay/chain/log-node.fixture.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { authorization, openLedgerRun } from '../support/ledger-run.ts'

/** Charges by name: the nonce of each is that of its name. */
export type NamedCharges = Record<string, { state: ChargeState; transaction?: string; validBefore?: number }>

export async function bookCharges(database: OpenDatabase, now: Date, charges: NamedCharges): Promise<void> {
  const names = Object.keys(charges)
  const run = await openLedgerRun(database, { lookups: names.length, now: () => now })
  for (const [index, name] of names.entries()) {
    const { state, transaction, validBefore = now.getTime() / 1000 - 60 } = charges[name]!
    const { id } = await run.journal.reserve({
      lookupKey: run.keys[index]!,
      operation: 'company.profile',
      runId: run.run.id,
      connector: run.connector,
      endpoint: 'e',
      url: 'https://service.example/x',
      body: '{}',
      amountAtomic: 10_000n,
      budget: [{ scope: 'run', capAtomic: 10n ** 12n }],
      draw: () => ({ ...authorization(name, 10_000n), nonce: nonceOf(name), payer: owner, validBefore }),
    })
    await database.db
      .updateTable('charges')
      .set({ state, transaction: transaction === undefined ? null : hashOf(transaction) })
      .where('id', '=', id)
      .execute()
  }
}
