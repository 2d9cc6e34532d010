import { sql, type Transaction } from 'kysely'
import { InputError } from '../../domain/errors.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Currency, Protocol } from '../../domain/payment.ts'
import type { Operation } from '../../domain/words.ts'
import { createAuditLog } from '../access/audit.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'

/**
 * A person's finding in the provider's statement: not charged; charged and the answer is lost; charged and the answer is in
 * the ledger.
 */
export type Verdict = 'declined' | 'lost' | 'settled'

/** A charge whose outcome neither the chain nor the service can tell. */
export interface ChargeToDecide {
  id: string
  operation: Operation
  connector: string
  protocol: Protocol
  currency: Currency
  amountAtomic: Atomic
  sentAt: Date
  /** The answer is in the ledger. */
  isAnswered: boolean
}

/** The time an answer may be on its way after a charge was sent. Older ones are open because their process died. */
const answerWaitMs = 10 * 60_000

const toDecide = (now: Date) => sql`protocol in ('api_key', 'mpp_card') and (charges.state = 'in_doubt'
  or (charges.state = 'sent' and sent_at < ${new Date(now.getTime() - answerWaitMs)}::timestamptz))`

const columns = sql`charges.id, charges.operation, charges.connector, protocol, currency, amount_atomic as "amountAtomic",
  sent_at as "sentAt", (lookups.state = 'answered' or lookups.query_id is not null) as "isAnswered"`

/** Returns the charges that stay in doubt until a person decides, oldest first. */
export async function chargesToDecide(db: Database, now: Date): Promise<ChargeToDecide[]> {
  const { rows } = await sql<ChargeToDecide>`
    select ${columns} from charges join lookups on lookups.key = charges.lookup_key
    where ${toDecide(now)} order by sent_at, charges.id`.execute(db)
  return rows
}

/**
 * Closes charges with a person's verdict: `in_doubt` or `sent` → `declined` (the budget gets its amount back), `lost` or
 * `settled`. Their lookups become due at once. Closes all of them and writes the audit log in one transaction. Throws
 * InputError, and changes nothing, when one of them has nothing to decide or does not fit the verdict.
 *
 * Crash window: none. Before the commit nothing has changed; after it a second call finds nothing to decide. A worker whose
 * answer arrives at the same time either settles first, and the charge is refused here, or finds the charge closed and
 * settles it all the same, because it has the data. `answerWaitMs` keeps a charge that is only `sent` from being closed, and
 * its request from being made a second time, while its answer may still arrive.
 */
export async function closeCharges(
  db: Database,
  order: { ids: readonly string[]; as: Verdict; now: Date; actor: string; role: string },
): Promise<ChargeToDecide[]> {
  const { as, now, actor, role } = order
  const ids = [...new Set(order.ids)]
  return db.transaction().execute(async (tx) => {
    // The lock needs a statement of its own: a statement that waits for a lock still sees the answers from before the wait.
    await sql`select from charges where id = any(${ids}) order by id for no key update`.execute(tx)
    const { rows } = await sql<ChargeToDecide>`
      select ${columns} from charges join lookups on lookups.key = charges.lookup_key
      where charges.id = any(${ids}) and ${toDecide(now)} order by charges.id`.execute(tx)
    refuseUnfit(ids, rows, as)
    await sql`
      update charges set state = ${as}, reason = ${`a person has looked: ${as}`}, closed_at = ${now}, touched_at = ${now}
      where id = any(${ids})`.execute(tx)
    if (as === 'declined') await giveBack(tx, ids)
    await sql`
      update lookups set due_at = ${now}, queued_until = null
      where key in (select lookup_key from charges where id = any(${ids}))
        and state = 'parked' and code in ('in_doubt', 'bundle_open')`.execute(tx)
    const log = createAuditLog(tx, { now: () => now })
    for (const { id, currency, amountAtomic } of rows)
      await log.record({
        actor,
        role,
        action: 'charge.close',
        target: id,
        details: { as, currency, millionths: Number(amountAtomic) },
      })
    return rows
  })
}

function refuseUnfit(ids: readonly string[], rows: readonly ChargeToDecide[], as: Verdict): void {
  const problems = ids.flatMap((id) => {
    const row = rows.find((each) => each.id === id)
    if (!row) return [`${id} is not a charge that a person has to decide (\`paydirt reconcile\` lists those)`]
    if (as === 'settled' && !row.isAnswered)
      return [`${id} has no answer in the ledger. If it was charged, close it as lost`]
    if (as === 'lost' && row.isAnswered)
      return [`${id} has its answer in the ledger. If it was charged, close it as settled`]
    return []
  })
  if (problems.length > 0)
    throw new InputError('not_to_close', ['nothing was closed', ...problems].join('\n  '))
}

/** Gives amounts back to their budget lines. Locks the lines in the order in which `reserve` does, so that no deadlock occurs. */
async function giveBack(tx: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  await sql`
    with freed as (
      select scope, sum(amount_atomic)::bigint as amount
      from charges, unnest(budget_scopes) as line (scope) where id = any(${[...ids]}) group by scope
    ), locked as (
      select scope from budgets where scope in (select scope from freed) order by scope collate "C" for update
    )
    update budgets set committed_atomic = committed_atomic - freed.amount
    from locked join freed using (scope) where budgets.scope = locked.scope`.execute(tx)
}
