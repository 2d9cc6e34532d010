import { sql, type Transaction } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import { unclaimedPrefix } from './claim-payments.ts'
import { endRestore } from './restore-state.ts'

/** A transfer out of the wallet whose authorization the ledger does not know. */
export interface UnknownPayment {
  transaction: string
  nonce: string
  block: bigint
  payTo: string
  amountAtomic: Atomic
}

/** The transfers that were read for a scope, to recipients that are named or pinned, by authorizations that no charge has. */
export async function unknownPayments(
  db: Database,
  { scope, recipients }: { scope: string; recipients: readonly string[] },
): Promise<UnknownPayment[]> {
  const known = recipients.map((address) => address.toLowerCase())
  const { rows } = await sql<UnknownPayment>`
    select transaction, nonce, block, recipient as "payTo", amount_atomic as "amountAtomic" from chain_transfers as moved
    where scope = ${scope} and nonce is not null and log_index >= 0 and amount_atomic > 0
      and (recipient = any(${known}::text[]) or recipient in (select lower(pay_to) from recipients)) and not exists (select from charges where charges.nonce = moved.nonce)
    order by block, log_index`.execute(db)
  return rows
}

/** Open charges whose authorization was used: the chain may have other times of it than the backup. */
export async function openPayments(
  db: Database,
  scope: string,
): Promise<{ transaction: string; nonce: string }[]> {
  const { rows } = await sql<{ transaction: string; nonce: string }>`
    select moved.transaction, moved.nonce from chain_transfers as moved join charges on charges.nonce = moved.nonce
    where scope = ${scope} and log_index >= 0 and state in ('journaled', 'sent', 'in_doubt') and protocol = 'x402'`.execute(
    db,
  )
  return rows
}

/** A payment as the chain has it. */
export interface ChainPayment extends UnknownPayment {
  id: string
  payer: string
  paidAt: Date
  validAfter: number
  /** Unix seconds; 0: the call could not be read, and its bytes cannot be made again. */
  validBefore: number
}

/**
 * Books payments that the ledger does not know as lost, under the run that is named, and ends restore mode. Crash window: none;
 * killed before the commit, they are read again from what is stored of the chain.
 */
export async function bookPayments(
  db: Database,
  payments: readonly ChainPayment[],
  booking: { network: string; asset: string; runId: string; at: Date },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (payments.length > 0) await insertPayments(tx, payments, booking)
    await endRestore(tx, booking.at)
  })
}

const reason = 'bought after the backup that this ledger was restored from'

async function insertPayments(
  tx: Transaction<Tables>,
  payments: readonly ChainPayment[],
  { network, asset, runId, at }: Parameters<typeof bookPayments>[2],
): Promise<void> {
  await sql`
    insert into runs (id, connector, object, entity, recipe, trigger, state, fingerprint, source, scanned_at, started_at, finished_at)
    values (${runId}, 'service', 'company', 'restored', 'restored', 'call', 'finished', ${`restored|${runId}`}, '{}'::jsonb, ${at}, ${at}, ${at})
    on conflict do nothing`.execute(tx)
  const rows = payments.map((payment) => ({
    ...payment,
    block: undefined,
    amountAtomic: String(payment.amountAtomic),
    key: `${unclaimedPrefix}${payment.nonce}`,
    authorization: {
      terms: {
        protocol: 'x402',
        version: 2,
        network,
        asset,
        payTo: payment.payTo,
        paymentIdentifier: false,
        raw: {},
      },
      payer: payment.payer,
      nonce: payment.nonce,
      validAfter: payment.validAfter,
      validBefore: payment.validBefore,
      paymentId: `pd_${payment.nonce.slice(2, 42)}`,
    },
  }))
  const given = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as paid (id text, key text, transaction text, nonce text,
    payer text, "payTo" text, "amountAtomic" bigint, "paidAt" timestamptz, "authorization" jsonb)`
  await sql`
    insert into lookups (key, operation, request, state, run_id, connector, due_at, reason, code, salt)
    select key, 'restored', '{}'::jsonb, 'failed', ${runId}, 'service', "paidAt", ${reason}, 'paid_no_data', null
    from ${given} on conflict do nothing`.execute(tx)
  await sql`
    insert into charges (id, lookup_key, attempt, run_id, connector, operation, endpoint, url, body, protocol, currency,
      amount_atomic, authorization_json, nonce, payer, pay_to, budget_scopes, state, sends, reason, transaction, created_at,
      sent_at, touched_at, closed_at, restored_at)
    select id, key, 1, ${runId}, 'service', 'restored', 'restored', '', '', 'x402', 'USD', "amountAtomic", "authorization"::json,
      nonce, payer, "payTo", '{}', 'lost', 1, ${reason}, transaction, "paidAt", "paidAt", ${at}, ${at}, ${at}
    from ${given} on conflict do nothing`.execute(tx)
}

/** Puts the times that the chain has of open authorizations in place of those that the backup has. */
export async function correctTimes(
  db: Database,
  used: readonly { nonce: string; validBefore: number }[],
  at: Date,
): Promise<void> {
  for (const { nonce, validBefore } of used) {
    await sql`
      update charges set restored_at = ${at}, authorization_json =
        regexp_replace(authorization_json::text, '"validBefore":[0-9]+', ${`"validBefore":${validBefore}`})::json
      where nonce = ${nonce} and state in ('journaled', 'sent', 'in_doubt')
        and (authorization_json ->> 'validBefore')::bigint <> ${validBefore}`.execute(db)
  }
}
