import { errorCode } from '../../domain/error-codes.ts'
import { RetriableError } from '../../domain/errors.ts'
import type { Block } from '../../pay/transfer-log.ts'
import { createChainTransferLedger, type ChainTransferLedger } from '../../store/chain/chain-transfers.ts'
import type { Context } from '../context/context.ts'

/** Names network, token and wallet: what was read of one says nothing about another. */
export function transferScope({ config }: Pick<Context, 'config'>, wallet: string): string {
  return `${config.policy.network}/${config.policy.asset}/${wallet}`.toLowerCase()
}

/** How far the chain's logs are known. */
export interface ReadThrough {
  head: Block
  /** Logs up to this block are no longer kept by the node. */
  goneThrough: bigint | null
}

/**
 * Reads the transfers out of a wallet that were logged since the last reading, and stores them. The first reading begins just
 * before the ledger's first charge; `isFull` begins there again.
 *
 * Only final blocks move the checkpoint, because a later one may still be replaced. Crash window: pages are stored one by
 * one, each with the checkpoint behind it. Killed between two, the next reading goes on after the last page that was stored.
 */
export async function readTransfers(
  context: Pick<Context, 'database' | 'chain' | 'config'>,
  wallet: string,
  { firstAt, isFull = false }: { firstAt: Date; isFull?: boolean },
): Promise<ReadThrough> {
  const { chain } = context
  const ledger = createChainTransferLedger(context.database.db, transferScope(context, wallet))
  if (isFull) await ledger.clear()
  const { latest, final } = await chain.blocks()
  const known = await continuation(ledger, chain, final)
  const from = known === undefined ? await chain.blockBefore(firstAt) : known + 1n
  const head = { headBlock: latest.number, headAt: latest.at }
  for await (const { through, transfers, isGone } of chain.pages(wallet, from, final.number)) {
    const blockHash = through === final.number ? final.hash : null
    const goneThrough = isGone ? through : null
    await ledger.advance(transfers, { block: through, blockHash, goneThrough, ...head })
  }
  // A first charge of the last minutes: no block of it is final yet.
  const start = from > final.number ? from : final.number + 1n
  if (from > final.number)
    await ledger.advance([], { block: from - 1n, blockHash: null, goneThrough: null, ...head })
  const tail = []
  for await (const { transfers } of chain.pages(wallet, start, latest.number)) tail.push(...transfers)
  await ledger.replaceTail(tail, head)
  return { head: latest, goneThrough: (await ledger.checkpoint())?.goneThrough ?? null }
}

/** Returns the block after which reading goes on, or undefined where it has to begin. */
async function continuation(
  ledger: ChainTransferLedger,
  chain: Context['chain'],
  final: Block,
): Promise<bigint | undefined> {
  const checkpoint = await ledger.checkpoint()
  if (!checkpoint) return undefined
  const { block, blockHash } = checkpoint
  if (blockHash === null) return block
  const hash = block === final.number ? final.hash : await chain.hashOf(block)
  if (hash === blockHash) return block
  if (hash === null) {
    throw new RetriableError(
      errorCode.chainUnreachable,
      `the chain's RPC does not know block ${block}, which was read before: its node is behind, or it serves another chain (\`paydirt reconcile --full\` reads from the beginning)`,
    )
  }
  // Another chain answers at this address: nothing that was read of the former one counts.
  await ledger.clear()
  return undefined
}
