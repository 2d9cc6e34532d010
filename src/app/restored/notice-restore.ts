import { derivedSeed, nonceOf, seedSecret } from '../../pay/payment-seed.ts'
import { ledgerId } from '../../store/database/meta.ts'
import { lastKnownAt, nextAttempts, unknownNonces } from '../../store/restored/next-attempts.ts'
import { beginRestoreOnce, pendingRestore } from '../../store/restored/restore-state.ts'
import type { Authorization } from '../../domain/payment.ts'
import type { RestoringParts } from './restoring-parts.ts'

/** Lookups that are tried against the chain at a start, and attempts of each. */
const mostLookups = 100
const attemptsEach = 2

/**
 * Notices a database that was restored with its own tools: the chain has nonces of ours that the ledger does not know. Asks the
 * token about the next attempts of lookups that wait. Puts the ledger into restore mode, and returns true, when one was used.
 */
export async function noticeRestore(context: RestoringParts, wallet: string): Promise<boolean> {
  const { config, chain } = context
  const { db } = context.database
  if (config.walletKey === undefined || (await pendingRestore(db))) return false
  const waiting = await nextAttempts(db, mostLookups)
  if (waiting.length === 0) return false
  const id = await ledgerId(db, context.randomBytes)
  const secret = seedSecret(config.walletKey)
  const drawn = waiting.flatMap(({ key, attempts }) =>
    Array.from({ length: attemptsEach }, (_, index) =>
      nonceOf(derivedSeed({ ledgerId: id, key, attempt: attempts + 1 + index, secret })),
    ),
  )
  const { latest } = await chain.blocks()
  const used = await chain.usedNonces(wallet, await unknownNonces(db, drawn), latest)
  if (used.size === 0) return false
  await enterRestoreMode(context)
  return true
}

/**
 * Says whether an authorization that the chain calls used was used by other bytes than the ledger's: by a ledger that knew more
 * than this one. Puts the ledger into restore mode then.
 */
export async function wasUsedBefore(
  context: RestoringParts,
  { nonce, validBefore }: Pick<Authorization, 'nonce' | 'validBefore'>,
  transaction: string,
): Promise<boolean> {
  const times = await context.chain.timesOf(transaction, nonce)
  if (!times || times.validBefore === validBefore) return false
  await enterRestoreMode(context)
  return true
}

/** Many lookups may notice it at once: the first notes it. */
async function enterRestoreMode({ database, now, log }: RestoringParts): Promise<void> {
  const backupAt = await lastKnownAt(database.db)
  const isFirst = await database.db
    .transaction()
    .execute((tx) => beginRestoreOnce(tx, { backupAt, restoredAt: now() }))
  if (!isFirst) return
  log.warn(
    { backupAt },
    'the chain has payments that only this ledger can have made, and it does not know them: it was restored from a backup. Nothing is bought until the chain has been read',
  )
}
