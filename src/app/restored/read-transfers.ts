import { errorCode } from '../../domain/error-codes.ts'
import { RetriableError } from '../../domain/errors.ts'
import type { Block } from '../../pay/chain/transfer-log.ts'
import { createChainTransferLedger, type ChainTransferLedger } from '../../store/chain/chain-transfers.ts'
import type { RestoringParts } from './restoring-parts.ts'

/** Names network, token and wallet: what was read of one says nothing about another. */
export function transferScope({ config }: Pick<RestoringParts, 'config'>, wallet: string): string {
  return `${config.policy.network}/${config.policy.asset}/${wallet}`.toLowerCase()
}

/** The range in which the chain's logs are known. */
export interface ReadThrough {
  head: Block
  /** Logs up to this block are no longer kept by the node. */
  goneThrough: bigint | null
}

/**
 * Blocks before the checkpoint that are read again each time: half a day of Base. What a node that was behind left out, in a
 * way that no check shows, is found by the next reading.
 */
const readAgain = 21_600n

/**
 * Reads the transfers out of a wallet that were logged since the last reading, and stores them. The first reading begins just
 * before the ledger's first charge; `isFull` begins there again.
 *
 * Only final blocks move the checkpoint, because a later one may still be replaced. Crash window: pages are stored one by
 * one, each with the checkpoint behind it. Killed between two, the next reading goes on after the last page that was stored.
 * Killed while blocks before the checkpoint are read again, it stays where it is, and the next reading reads them again.
 */
export async function readTransfers(
  context: Pick<RestoringParts, 'database' | 'chain' | 'config'>,
  wallet: string,
  { firstAt, isFull = false }: { firstAt: Date; isFull?: boolean },
): Promise<ReadThrough> {
  const { chain } = context
  const ledger = createChainTransferLedger(context.database.db, transferScope(context, wallet))
  if (isFull) await ledger.clear()
  const { latest, final } = await chain.blocks()
  const known = await continuation(ledger, chain, final)
  const from =
    known === undefined ? await chain.blockBefore(firstAt) : await blockBehind(chain, known, firstAt)
  const head = { headBlock: latest.number, headAt: latest.at }
  for await (const { through, hash, transfers, isGone } of chain.pages(wallet, from, final)) {
    // Pruned logs of blocks that were read before lose nothing.
    const goneThrough = isGone && through > (known ?? -1n) ? through : null
    await ledger.advance(transfers, { block: through, blockHash: hash, goneThrough, ...head })
  }
  // A first charge of the last minutes: no block of it is final yet.
  if (from > final.number)
    await ledger.advance([], { block: final.number, blockHash: final.hash, goneThrough: null, ...head })
  const start = (known !== undefined && known > final.number ? known : final.number) + 1n
  const tail = []
  for await (const { transfers } of chain.pages(wallet, start, latest)) tail.push(...transfers)
  await ledger.replaceTail(tail, head)
  return { head: latest, goneThrough: (await ledger.checkpoint())?.goneThrough ?? null }
}

/**
 * Returns the block after which reading goes on, or undefined where it has to begin. A checkpoint without a hash, which
 * older versions stored between two pages, does not show of which chain it is: what was read is read again.
 */
async function continuation(
  ledger: ChainTransferLedger,
  chain: RestoringParts['chain'],
  final: Block,
): Promise<bigint | undefined> {
  const checkpoint = await ledger.checkpoint()
  if (!checkpoint) return undefined
  const { block, blockHash } = checkpoint
  const found = block === final.number ? final : await chain.block(block)
  if (!found) throw unknownBlock(block)
  if (found.hash === blockHash) return block
  // Another chain answers at this address: nothing that was read of the former one counts.
  await ledger.clear()
  return undefined
}

/** Returns the block with which to begin again, which is never before the ledger's first charge. */
async function blockBehind(chain: RestoringParts['chain'], known: bigint, firstAt: Date): Promise<bigint> {
  const number = known - readAgain + 1n
  if (number > 0n) {
    const found = await chain.block(number)
    if (!found) throw unknownBlock(number)
    if (found.at >= firstAt) return number
  }
  return chain.blockBefore(firstAt)
}

function unknownBlock(block: bigint): RetriableError {
  return new RetriableError(
    errorCode.chainUnreachable,
    `the chain's RPC does not know block ${block}, which was read before: its node is behind, or it serves another chain (\`paydirt reconcile --full\` reads from the beginning)`,
  )
}
