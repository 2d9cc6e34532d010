import { defaultNetworkHosts } from '../../domain/keys.ts'
import { openChargeStates } from '../../domain/payment.ts'
import type { ChargeJournal } from '../../domain/ports/charge-journal.ts'
import type { Database } from '../database/database.ts'
import { storeAnswers } from './answers.ts'
import { createChargeOutcomes } from './charge-outcomes.ts'
import { toCharge } from './charge-rows.ts'
import type { SettledHere } from './lookups.ts'
import { createPurchaseSteps } from './purchase-steps.ts'

/** The journal of charges on SQL. The payer explains what each transaction guards, above its picture of the states. */
export function createChargeJournal(
  db: Database,
  given: {
    now: () => Date
    newId: () => string
    hosts?: readonly string[]
    settled?: SettledHere | undefined
  },
): ChargeJournal {
  const options = { hosts: defaultNetworkHosts, ...given }
  const { now } = options
  return {
    ...createPurchaseSteps(db, options),
    ...createChargeOutcomes(db, options),

    async openCharges(before, limit) {
      const rows = await db
        .selectFrom('charges')
        .innerJoin('lookups', 'lookups.key', 'charges.lookup_key')
        .innerJoin('runs', 'runs.id', 'lookups.run_id')
        .selectAll('charges')
        .select(['lookups.state as lookup_state', 'lookups.query_id', 'lookups.request'])
        .where('charges.state', 'in', [...openChargeStates])
        .where('touched_at', '<', before)
        // The worker settles the charge of a lookup that it works on.
        .where((eb) =>
          eb.or([
            eb('lookups.state', 'in', ['answered', 'failed', 'parked']),
            eb('runs.state', 'in', ['stopped', 'parked', 'finished', 'failed']),
          ]),
        )
        .orderBy('touched_at')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        ...toCharge(row),
        operation: row.operation,
        connector: row.connector,
        request: row.request,
        isAnswered: row.lookup_state === 'answered' || row.query_id !== null,
      }))
    },

    async touch(id) {
      await db.updateTable('charges').set({ touched_at: now() }).where('id', '=', id).execute()
    },

    async storeFreeAnswer(key, answer) {
      await db
        .transaction()
        .execute((tx) => storeAnswers(tx, [{ key, answer }], { at: now(), hosts: options.hosts }))
    },

    async recordRefusal({ lookupKey, runId, endpoint, rule, message }) {
      await db
        .insertInto('refusals')
        .values({ lookup_key: lookupKey, run_id: runId, endpoint, rule, message, refused_at: now() })
        .execute()
    },
  }
}
