import type { LookupKey } from '../domain/keys.ts'
import type { Atomic } from '../domain/money.ts'
import { defaultPrices } from '../domain/planning/prices.ts'
import {
  nextStep,
  slotOf,
  type Facts,
  type LookupWanted,
  type PriceTable,
} from '../domain/planning/planner.ts'
import { builtInRecipes, type RecipeBook } from '../domain/planning/recipes.ts'
import type { Patch } from '../domain/record.ts'
import { identifiersOf, type Identifier } from '../domain/subjects/identifiers.ts'
import { identifiersOfKey } from '../domain/subjects/traces.ts'
import type { LookupLedger } from '../store/ledger/lookups.ts'
import type { TaskLedger, TaskMove, WaitingTask } from '../store/runs/tasks.ts'

export interface AdvanceOptions {
  lookups: Pick<LookupLedger, 'want' | 'facts' | 'paidBy'>
  tasks: Pick<TaskLedger, 'move' | 'waitingFor'>
  /** Some tasks of this connector and entity are ready to be written. */
  onReady: (group: { connector: string; entity: string }) => void
  /** New lookups are due. */
  onWanted: () => void
  /** Which of these subjects, by their place, are to be left alone. Absent: none. */
  suppressed?: (subjects: readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
  /** Default: the built-in recipes alone. */
  recipes?: RecipeBook
  /** What steps cost at most. Default: what is known of the service's prices. */
  prices?: PriceTable
  now?: () => Date
}

export interface Advance {
  /** Plans the next step of every task that waits for these lookups, again and again while the ledger already holds what they ask for. */
  advanceTasksWaitingFor(keys: LookupKey[]): Promise<void>
}

const pageSize = 500

/**
 * Moves tasks on when a lookup has ended. Planning is pure and moving is idempotent, so whoever calls twice, or dies in
 * between, does no harm: the sweep calls again.
 */
export function createAdvance(options: AdvanceOptions): Advance {
  const { lookups, tasks, recipes = builtInRecipes, prices = defaultPrices } = options

  /** Answers how many of these tasks it moved: those whose lookup has ended. */
  async function advance(waiting: WaitingTask[]): Promise<number> {
    let current = waiting
    let moved = 0
    while (current.length > 0) {
      const known = await lookups.facts(current.flatMap((task) => [...task.steps, task.waitingFor]))
      const planned = await withoutSuppressed(
        await planAll(
          current.filter((task) => known.has(task.waitingFor)),
          known,
        ),
      )
      await want(planned)
      // First the tasks are moved, then the ledger is asked: an answer that comes between the two finds them waiting.
      await tasks.move(planned.map(({ move }) => move))
      moved += planned.length
      announce(planned)
      const further = planned.filter(({ wanted }) => wanted !== undefined)
      const answered = await lookups.facts(further.map(({ wanted }) => (wanted as LookupWanted).key))
      current = further
        .filter(({ wanted }) => answered.has((wanted as LookupWanted).key))
        .map(({ task, move, wanted }) => ({
          ...task,
          steps: move.steps,
          waitingFor: (wanted as LookupWanted).key,
        }))
    }
    return moved
  }

  /** A price ceiling counts what the record has really cost, and a fresh answer in the ledger costs nothing. */
  async function planAll(waiting: WaitingTask[], known: Known): Promise<Planned[]> {
    const capped = waiting.filter(
      (task) => recipes(task.object, task.recipe).priceCeilingAtomic !== undefined,
    )
    const paid = new Map<bigint, ReadonlyMap<LookupKey, Atomic>>()
    for (const [runId, group] of Map.groupBy(capped, (task) => task.runId)) {
      const byKey = await lookups.paidBy(
        runId,
        group.flatMap((task) => [...task.steps, task.waitingFor]),
      )
      for (const task of group) paid.set(task.id, byKey)
    }
    const asked = new Set<LookupKey>()
    const isAsked = (key: LookupKey) => (asked.add(key), false)
    for (const task of capped)
      plan(task, known, { recipes, prices, paid: paid.get(task.id), isFresh: isAsked })
    const answers = await lookups.facts([...asked])
    const at = options.now?.() ?? new Date()
    const isFresh = (key: LookupKey) => {
      const answer = answers.get(key)
      return answer !== undefined && answer.outcome !== 'failed' && answer.freshUntil > at
    }
    return waiting.map((task) => plan(task, known, { recipes, prices, paid: paid.get(task.id), isFresh }))
  }

  /** Whom a lookup has found may be on the list, though nothing in the record said so: nothing more is bought then. */
  async function withoutSuppressed(planned: Planned[]): Promise<Planned[]> {
    const marks = planned.map(({ task, wanted }) => [
      ...identifiersOf(task.identity),
      ...identifiersOfKey(task.waitingFor),
      ...(wanted ? identifiersOfKey(wanted.key) : []),
    ])
    const suppressed = await options.suppressed?.(marks)
    if (!suppressed || suppressed.size === 0) return planned
    return planned.map((each, index) =>
      suppressed.has(index)
        ? {
            task: each.task,
            wanted: undefined,
            move: { ...each.move, status: 'skipped', waitingFor: null, patch: null, reason: 'suppressed' },
          }
        : each,
    )
  }

  async function want(planned: Planned[]): Promise<void> {
    const byRun = Map.groupBy(
      planned.filter(({ wanted }) => wanted !== undefined),
      ({ task }) => task.runId,
    )
    for (const [id, group] of byRun) {
      const [{ task }] = group as [Planned]
      await lookups.want(
        group.map(({ wanted }) => wanted as LookupWanted),
        { id, connector: task.connector, hot: task.hot },
      )
    }
    if (byRun.size > 0) options.onWanted()
  }

  function announce(planned: Planned[]): void {
    const ready = planned.filter(({ move }) => move.status === 'ready')
    const groups = Map.groupBy(ready, ({ task }) => `${task.connector}/${task.entity}`)
    for (const [{ task }] of groups.values() as Iterable<[Planned]>) {
      options.onReady({ connector: task.connector, entity: task.entity })
    }
  }

  return {
    async advanceTasksWaitingFor(keys) {
      for (;;) {
        const waiting = await tasks.waitingFor(keys, pageSize)
        // None moved: another run has asked for the same lookup anew meanwhile, and they wait for that answer.
        if ((await advance(waiting)) === 0 || waiting.length < pageSize) return
      }
    },
  }
}

interface Planned {
  task: WaitingTask
  move: TaskMove
  wanted: LookupWanted | undefined
}

type Known = Awaited<ReturnType<LookupLedger['facts']>>

interface PlanBy {
  recipes: RecipeBook
  prices: PriceTable
  /** What the run has paid for each lookup; undefined where no ceiling asks for it. */
  paid: ReadonlyMap<LookupKey, Atomic> | undefined
  isFresh: (key: LookupKey) => boolean
}

function plan(task: WaitingTask, known: Known, { recipes, prices, paid, isFresh }: PlanBy): Planned {
  const steps = [...task.steps.filter((key) => key !== task.waitingFor), task.waitingFor]
  const facts: Facts = {}
  for (const key of steps) {
    const fact = known.get(key)
    if (fact) facts[slotOf(key)] = paid ? { ...fact, priceAtomic: paid.get(key) ?? 0n } : fact
  }
  const step = nextStep(task, recipes(task.object, task.recipe), facts, { prices, isFresh })
  const move = { id: task.id, waitingFor: null, steps, patch: null, reason: null }
  if (step.kind === 'stop')
    return { task, wanted: undefined, move: { ...move, status: step.status, reason: step.reason } }
  if (step.kind === 'lookup') {
    return { task, wanted: step.lookup, move: { ...move, status: 'looking_up', waitingFor: step.lookup.key } }
  }
  const patch: Patch = Object.fromEntries(
    Object.entries(step.values).map(([name, value]) => [name, { set: value }]),
  )
  return { task, wanted: undefined, move: { ...move, status: 'ready', patch, reason: step.reason ?? null } }
}
