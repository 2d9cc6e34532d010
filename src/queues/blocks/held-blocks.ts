import { AsyncLocalStorage } from 'node:async_hooks'
import type { LookupKey } from '../../domain/keys.ts'
import { lookupJobId } from '../jobs.ts'
import type { BlockStep, Claims } from './claims.ts'
import type { Slots } from './slots.ts'

/** A block whose lock this process has. */
export interface Block {
  id: string
  token: string
  keys: readonly LookupKey[]
  /** Called when nothing is left to do for its lookups. */
  end: () => void
}

interface HeldBlock extends Block {
  left: number
}

/** A lookup of a block that this process has. */
interface Held {
  block: HeldBlock
  key: LookupKey
  id: string
}

export interface HeldBlocks {
  /** Takes the lookups of a block, to begin them after `fetched` as slots come free. */
  put(block: Block): void
  /** Says that a fetch has ended: what is at hand begins. */
  fetched(): void
  /** Returns the number of free slots for which no lookup is at hand. */
  lacks(): number
  /** Begins nothing more. Returns the lookups that were not begun; the rest of their blocks goes on. */
  stop(): LookupKey[]
  /** Resolves when nothing of any block is under way. */
  idle(): Promise<void>
}

const retryMs = 1_000

/**
 * Does the lookups of blocks. All that begins and ends within one turn of the event loop is told to Redis in one command. A lookup
 * begins only when Redis has answered that it is still in its block: a press may have taken it out at any moment before.
 */
export function createHeldBlocks(options: {
  claims: Pick<Claims, 'step'>
  slots: Slots
  /** Does one lookup and stores what comes next. Never throws. */
  work: (key: LookupKey, block: Block) => Promise<void>
  /**
   * Called when slots are free for which no lookup is at hand. Returns true when blocks are on their way, or `fetched` will say that none are.
   */
  fetch: () => boolean
  onError: (error: Error) => void
}): HeldBlocks {
  const { claims, slots } = options
  const ready: Held[] = []
  let ended: Held[] = []
  /** Lookups that are being told to Redis, or done. */
  let underWay = 0
  let isPlanned = false
  let hasFetched = false
  let isStopped = false
  const whenIdle: (() => void)[] = []
  // A lookup that begins at the end of another has neither its log fields nor its trace.
  const outside = AsyncLocalStorage.snapshot()

  function planTurn(): void {
    if (isPlanned) return
    isPlanned = true
    setImmediate(() => outside(turn))
  }

  function turn(): void {
    isPlanned = false
    // Lookups that begin together take every step of the ledger in one group.
    if (lacks() > 0 && options.fetch() && !hasFetched) return
    hasFetched = false
    const begin: Held[] = []
    while (ready.length > 0 && slots.tryTake()) begin.push(ready.shift() as Held)
    const done = ended
    ended = []
    if (begin.length + done.length > 0) void tell(done, begin)
  }

  async function tell(done: readonly Held[], begin: readonly Held[]): Promise<void> {
    underWay += begin.length + done.length
    const steps = stepsOf(done, begin)
    const answers = await claims
      .step(steps.map(({ step }) => step))
      .catch((error: unknown) => options.onError(error as Error))
    if (!answers) return tellLater(done, begin)
    for (const [index, each] of steps.flatMap(({ held }) => held).entries())
      if (answers[index] === 'begun') void run(each)
      else skip(each)
    for (const { block } of done) leave(block)
  }

  /** Redis may have done it: doing it again changes nothing. */
  function tellLater(done: readonly Held[], begin: readonly Held[]): void {
    setTimeout(() => {
      underWay -= begin.length + done.length
      for (const _ of begin) slots.release()
      ended.push(...done)
      // Their claims are left: when the block has ended, they hold nothing.
      if (isStopped) drop(begin)
      else ready.unshift(...begin)
      planTurn()
      tellIdle()
    }, retryMs)
  }

  async function run(held: Held): Promise<void> {
    await options.work(held.key, held.block)
    underWay -= 1
    ended.push(held)
    slots.release()
    planTurn()
  }

  /** A lookup that was taken out, or whose block is lost, has no claim to remove. */
  function skip({ block }: Held): void {
    slots.release()
    leave(block)
    planTurn()
  }

  function leave(block: HeldBlock): void {
    underWay -= 1
    countDown(block)
    tellIdle()
  }

  function tellIdle(): void {
    if (isIdle()) for (const resolve of whenIdle.splice(0)) resolve()
  }

  function drop(held: readonly Held[]): void {
    for (const { block } of held) countDown(block)
  }

  function countDown(block: HeldBlock): void {
    block.left -= 1
    if (block.left === 0) block.end()
  }

  function lacks(): number {
    return isStopped ? 0 : slots.free() - ready.length
  }

  function isIdle(): boolean {
    return underWay === 0 && ended.length === 0 && ready.length === 0
  }

  slots.onFree(planTurn)

  return {
    put(block) {
      const held: HeldBlock = { ...block, left: block.keys.length }
      ready.push(...block.keys.map((key) => ({ block: held, key, id: lookupJobId(key) })))
      if (held.left === 0) held.end()
    },

    fetched() {
      hasFetched = true
      planTurn()
    },

    lacks,

    stop() {
      isStopped = true
      const left = ready.splice(0)
      drop(left)
      planTurn()
      return left.map(({ key }) => key)
    },

    async idle() {
      if (!isIdle()) await new Promise<void>((resolve) => whenIdle.push(resolve))
    },
  }
}

/** Gathers by block what is told. `held` are those to begin, in the order of the answers. */
function stepsOf(done: readonly Held[], begin: readonly Held[]): { step: BlockStep; held: Held[] }[] {
  const steps = new Map<HeldBlock, { step: BlockStep; held: Held[] }>()
  const ofBlock = (block: HeldBlock) => {
    const known = steps.get(block)
    if (known) return known
    const { id, token } = block
    const made = { step: { id, token, ended: [], begin: [] } as BlockStep, held: [] }
    steps.set(block, made)
    return made
  }
  for (const { block, id } of done) ofBlock(block).step.ended.push(id)
  for (const each of begin) {
    const { step, held } = ofBlock(each.block)
    step.begin.push(each.id)
    held.push(each)
  }
  return [...steps.values()]
}
