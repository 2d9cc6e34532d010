import { sql, type Transaction } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'

const largest = 2n ** 63n - 1n

interface StoredTransfer {
  transaction: string
  logIndex: number
  blockNumber: bigint
  to: string
  amountAtomic: Atomic
  nonce: string | null
}

/** The point to which the logs of a scope (network, token, wallet) were read. */
interface Checkpoint {
  block: bigint
  blockHash: string | null
  goneThrough: bigint | null
  headBlock: bigint
  /** The time of the head block. */
  headAt: Date
}

export interface ChainTransferLedger {
  checkpoint(): Promise<Checkpoint | undefined>
  /**
   * Stores transfers of final blocks together with how far they go. The checkpoint never moves back: of blocks before it,
   * transfers are only added. Crash window: none. Killed before the commit, the range is read again, and what another
   * process stored of it meanwhile is left as it is.
   */
  advance(transfers: readonly StoredTransfer[], to: Checkpoint): Promise<void>
  /** Replaces what is known of the blocks after the checkpoint, which may not be final. */
  replaceTail(
    transfers: readonly StoredTransfer[],
    head: Pick<Checkpoint, 'headBlock' | 'headAt'>,
  ): Promise<void>
  /** Stores a payment that the token's state proves and whose log is gone. */
  addUnlogged(charges: readonly { id: string; nonce: string; amountAtomic: Atomic }[]): Promise<void>
  /** Forgets everything that was read. */
  clear(): Promise<void>
}

export function createChainTransferLedger(db: Database, scope: string): ChainTransferLedger {
  async function insert(tx: Transaction<Tables>, transfers: readonly StoredTransfer[]): Promise<void> {
    if (transfers.length === 0) return
    const rows = transfers.map(({ transaction, logIndex, blockNumber, to, amountAtomic, nonce }) => ({
      transaction,
      log_index: logIndex,
      block: String(blockNumber),
      recipient: to.toLowerCase(),
      // An amount beyond the column is none of ours: the largest that fits stands for it.
      amount_atomic: String(amountAtomic < largest ? amountAtomic : largest),
      nonce,
    }))
    await sql`
      insert into chain_transfers (scope, transaction, log_index, block, recipient, amount_atomic, nonce)
      select ${scope}, transaction, log_index, block, recipient, amount_atomic, nonce
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as read (transaction text, log_index bigint, block bigint,
        recipient text, amount_atomic bigint, nonce text)
      on conflict do nothing`.execute(tx)
    // A payment that only the token's state had proved has its log now.
    const nonces = transfers.flatMap(({ logIndex, nonce }) => (logIndex < 0 || nonce === null ? [] : [nonce]))
    await sql`delete from chain_transfers where scope = ${scope} and log_index < 0 and nonce = any(${nonces}::text[])`.execute(
      tx,
    )
  }

  async function lock(tx: Transaction<Tables>): Promise<bigint> {
    const row = await tx
      .selectFrom('chain_checkpoints')
      .select('block')
      .where('scope', '=', scope)
      .forUpdate()
      .executeTakeFirstOrThrow()
    return row.block
  }

  /** Transfers of blocks after the checkpoint may have been replaced since they were read. */
  async function dropAfter(tx: Transaction<Tables>, block: bigint): Promise<void> {
    await tx.deleteFrom('chain_transfers').where('scope', '=', scope).where('block', '>', block).execute()
  }

  return {
    async checkpoint() {
      const row = await db
        .selectFrom('chain_checkpoints')
        .selectAll()
        .where('scope', '=', scope)
        .executeTakeFirst()
      return (
        row && {
          block: row.block,
          blockHash: row.block_hash,
          goneThrough: row.gone_through,
          headBlock: row.head_block,
          headAt: row.head_at,
        }
      )
    },

    async advance(transfers, to) {
      await db.transaction().execute(async (tx) => {
        await sql`
          insert into chain_checkpoints (scope, block, head_block, head_at)
          values (${scope}, -1, ${to.headBlock}, ${to.headAt}) on conflict do nothing`.execute(tx)
        // Two processes may read the same range. The one that comes second must not take the other's progress back.
        const block = await lock(tx)
        const isFurther = to.block > block
        if (isFurther) await dropAfter(tx, block)
        await insert(tx, transfers)
        if (!isFurther) return
        await tx
          .updateTable('chain_checkpoints')
          .set({ block: to.block, block_hash: to.blockHash, head_block: to.headBlock, head_at: to.headAt })
          .set(to.goneThrough === null ? {} : { gone_through: to.goneThrough })
          .where('scope', '=', scope)
          .execute()
      })
    },

    async replaceTail(transfers, { headBlock, headAt }) {
      await db.transaction().execute(async (tx) => {
        const block = await lock(tx)
        await dropAfter(tx, block)
        await insert(
          tx,
          transfers.filter(({ blockNumber }) => blockNumber > block),
        )
        await tx
          .updateTable('chain_checkpoints')
          .set({ head_block: headBlock, head_at: headAt })
          .where('scope', '=', scope)
          .execute()
      })
    },

    async addUnlogged(charges) {
      await db.transaction().execute((tx) =>
        insert(
          tx,
          charges.map(({ id, nonce, amountAtomic }) => ({
            transaction: `charge ${id}`,
            logIndex: -1,
            blockNumber: 0n,
            to: '',
            amountAtomic,
            nonce,
          })),
        ),
      )
    },

    async clear() {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('chain_transfers').where('scope', '=', scope).execute()
        await tx.deleteFrom('chain_checkpoints').where('scope', '=', scope).execute()
      })
    },
  }
}
