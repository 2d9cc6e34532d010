import type { LookupKey } from '../domain/keys.ts'
import { nextStep, slotOf, type Facts, type LookupWanted } from '../domain/planner.ts'
import { builtInRecipes, type RecipeBook } from '../domain/recipes.ts'
import type { Patch } from '../domain/record.ts'
import type { Mark } from '../domain/subject.ts'
import { marksOfKey } from '../domain/traces.ts'
import type { LookupLedger } from '../store/lookups.ts'
import type { TaskLedger, TaskMove, WaitingTask } from '../store/tasks.ts'

export interface AdvanceOptions {
  lookups: Pick<LookupLedger, 'want' | 'facts'>
  tasks: Pick<TaskLedger, 'move' | 'waitingFor'>
  /** Some tasks of this connector and entity are ready to be written. */
  onReady: (group: { connector: string; entity: string }) => void
  /** New lookups are due. */
  onWanted: () => void
  /** Which of these subjects, by their place, are to be left alone. Absent: none. */
  suppressed?: (subjects: readonly (readonly Mark[])[]) => Promise<ReadonlySet<number>>
  /** Default: the built-in recipes alone. */
  recipes?: RecipeBook
}

export interface Advance {
  /** Plans the next step of every task that waits for these lookups. */
  waitingFor(keys: LookupKey[]): Promise<void>
  /** Plans the next step of these tasks, again and again while the ledger already holds what they ask for. */
  tasks(tasks: WaitingTask[]): Promise<void>
}

const pageSize = 500

/**
 * Moves tasks on when a lookup has ended. Planning is pure and moving is idempotent, so whoever calls twice, or dies in
 * between, does no harm: the sweep calls again.
 */
export function createAdvance(options: AdvanceOptions): Advance {
  const { lookups, tasks, recipes = builtInRecipes } = options

  /** Answers how many of these tasks it moved: those whose lookup has ended. */
  async function advance(waiting: WaitingTask[]): Promise<number> {
    let current = waiting
    let moved = 0
    while (current.length > 0) {
      const known = await lookups.facts(current.flatMap((task) => [...task.steps, task.waitingFor]))
      const planned = await withoutSuppressed(
        current.filter((task) => known.has(task.waitingFor)).map((task) => plan(task, known, recipes)),
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

  /** Whom a lookup has found may be on the list, though nothing in the record said so: nothing more is bought then. */
  async function withoutSuppressed(planned: Planned[]): Promise<Planned[]> {
    const marks = planned.map(({ wanted }) => (wanted ? marksOfKey(wanted.key) : []))
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
    async tasks(waiting) {
      await advance(waiting)
    },
    async waitingFor(keys) {
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

function plan(
  task: WaitingTask,
  known: Awaited<ReturnType<LookupLedger['facts']>>,
  recipes: RecipeBook,
): Planned {
  const steps = [...task.steps.filter((key) => key !== task.waitingFor), task.waitingFor]
  const facts: Facts = {}
  for (const key of steps) {
    const fact = known.get(key)
    if (fact) facts[slotOf(key)] = fact
  }
  const step = nextStep(task, recipes(task.object, task.recipe), facts)
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
