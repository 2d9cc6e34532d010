import { sql, type Transaction } from 'kysely'
import type { Database } from '../database/database.ts'
import { readMeta, writeMeta } from '../database/meta.ts'
import type { Tables } from '../database/tables/schema.ts'

/**
 * A ledger that was restored does not know what was paid after its backup. While this switch is on nothing is bought: the chain
 * has to be read first. It is read in the same statements as the kill switch.
 */
export const restoredSwitch = 'restored'
/** On from then: payments are booked that no lookup has claimed. */
const unclaimedSwitch = 'restored_payments'

const metaKey = 'restored'

export interface Restore {
  /** The ledger knows everything up to here. */
  backupAt: Date
  /** No authorization was signed after it by the processes of before. */
  restoredAt: Date
}

/** True when payments from the chain may belong to a lookup; for use inside a statement. */
export const hasUnclaimed = sql<boolean>`exists (select 1 from switches where name = ${unclaimedSwitch} and is_on)`

/** Returns the restore whose payments are not booked yet; undefined: there is none. */
export async function pendingRestore(db: Database): Promise<Restore | undefined> {
  const { rows } = await sql`select 1 from switches where name = ${restoredSwitch} and is_on`.execute(db)
  return rows.length === 0 ? undefined : lastRestore(db)
}

/** Returns the last restore of this ledger, booked or not. */
export async function lastRestore(db: Database): Promise<Restore | undefined> {
  const text = await readMeta(db, metaKey)
  if (text === undefined) return undefined
  const { backupAt, restoredAt } = JSON.parse(text) as Record<keyof Restore, string>
  return { backupAt: new Date(backupAt), restoredAt: new Date(restoredAt) }
}

/**
 * Begins restore mode, in the transaction of the restore. A charge that the backup has as never sent may have been sent after
 * it: from now on only the chain can say that it was not.
 */
export async function beginRestore(
  tx: Transaction<Tables>,
  { backupAt, restoredAt }: Restore,
): Promise<void> {
  await writeMeta(tx, metaKey, JSON.stringify({ backupAt, restoredAt }))
  await setSwitch(tx, restoredSwitch, {
    isOn: true,
    reason: `restored from a backup of ${backupAt.toISOString()}: the chain has to be read before anything is bought`,
    at: restoredAt,
  })
  await sql`update charges set state = 'in_doubt', sent_at = coalesce(sent_at, created_at), sends = greatest(sends, 1),
    reason = 'open in the backup' where state = 'journaled'`.execute(tx)
}

/** As `beginRestore`, where the ledger is not in restore mode. Returns false, and changes nothing, where it is. */
export async function beginRestoreOnce(tx: Transaction<Tables>, restore: Restore): Promise<boolean> {
  await sql`insert into switches (name, is_on, changed_at) values (${restoredSwitch}, false, ${restore.restoredAt})
    on conflict (name) do nothing`.execute(tx)
  const { rows } = await sql<{ is_on: boolean }>`
    select is_on from switches where name = ${restoredSwitch} for update`.execute(tx)
  if (rows[0]?.is_on) return false
  await beginRestore(tx, restore)
  return true
}

/** Changes what is shown as the reason of a restore mode that lasts. */
export async function explainRestore(db: Database, reason: string): Promise<void> {
  await sql`update switches set reason = ${reason} where name = ${restoredSwitch} and is_on and reason is distinct from ${reason}`.execute(
    db,
  )
}

/** Ends restore mode, in the transaction that books what the chain has shown. */
export async function endRestore(tx: Transaction<Tables>, at: Date): Promise<void> {
  await setSwitch(tx, restoredSwitch, { isOn: false, reason: null, at })
  await setSwitch(tx, unclaimedSwitch, { isOn: true, reason: null, at })
  // Lookups that the switch has parked are due now, unless a person has stopped spending as well: then it is parked again.
  await sql`update lookups set due_at = ${at}, queued_until = null where state = 'parked' and code = 'stopped'`.execute(
    tx,
  )
}

async function setSwitch(
  tx: Transaction<Tables>,
  name: string,
  { isOn, reason, at }: { isOn: boolean; reason: string | null; at: Date },
): Promise<void> {
  const state = { is_on: isOn, reason, changed_at: at }
  await tx
    .insertInto('switches')
    .values({ name, ...state })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(state))
    .execute()
}
