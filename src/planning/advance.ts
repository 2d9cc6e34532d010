import { describeUnexpected } from '../domain/errors.ts'
import type { LookupKey } from '../domain/keys.ts'
import type { LookupWanted } from '../domain/planning/planner.ts'
import type { Fact } from '../domain/record.ts'
import { isAway } from '../store/database/retry-while-away.ts'
import type { LookupLedger } from '../store/ledger/lookups.ts'
import type { TaskLedger } from '../store/runs/tasks.ts'
import type { TaskMove, WaitingTask } from '../store/runs/waiting-tasks.ts'
import type { Decision, StepPlanner } from './step-planner.ts'

export interface AdvanceOptions {
  planner: StepPlanner
  lookups: Pick<LookupLedger, 'want' | 'facts' | 'stopped'>
  tasks: Pick<TaskLedger, 'move' | 'waitingFor'>
  /** Called when tasks of this connector and entity are ready to be written. */
  onReady: (group: { connector: string; entity: string }) => void
  /** Called when new lookups are due. */
  onWanted: () => void
}

export interface Advance {
  /**
   * Plans the next step of every task that waits for these lookups, again and again while the ledger already has the
   * answer to what they ask for.
   */
  advanceTasksWaitingFor(keys: LookupKey[]): Promise<void>
  /**
   * Moves the tasks on that wait for these lookups of a stopped operation and have something else: another step, or values to
   * write. The others go on waiting for it.
   */
  advanceTasksPast(keys: LookupKey[], reason: string): Promise<void>
}

const pageSize = 500

/**
 * Moves tasks on when a lookup has ended. Planning is pure and a move is idempotent, so a second call is harmless; after a
 * crash in between, the sweep calls again.
 */
export function createAdvance(options: AdvanceOptions): Advance {
  const { planner, lookups, tasks } = options

  /** Returns how many of these tasks it moved: those whose lookup has ended, or that have something without it. */
  async function advance(waiting: WaitingTask[], without?: Without): Promise<number> {
    let current = waiting
    let moved = 0
    while (current.length > 0) {
      // The steps after the first one go by answers alone.
      const planned = await planAll(current, moved === 0 ? without : undefined)
      await want(planned)
      // The tasks are moved before the ledger is asked: an answer that arrives in between finds them waiting.
      await tasks.move(planned.map(({ move }) => move))
      moved += planned.length
      announce(planned)
      current = await answeredAlready(planned)
    }
    return moved
  }

  /**
   * Advances these tasks, and rejects a task for which the ledger refuses what it has to store, so that it stops no other.
   * The halves are planned again from the beginning: a task that was moved before the error gets the same move.
   */
  async function advanceAll(waiting: WaitingTask[], without?: Without): Promise<number> {
    try {
      return await advance(waiting, without)
    } catch (error) {
      if (isAway(error)) throw error
      const [first] = waiting
      if (first && waiting.length === 1) {
        const reason = `unexpected error: ${describeUnexpected(error)}`
        const { id, steps } = first
        await tasks.move([{ id, status: 'rejected', waitingFor: null, steps, patch: null, reason }])
        return 1
      }
      const half = Math.ceil(waiting.length / 2)
      return (
        (await advanceAll(waiting.slice(0, half), without)) + (await advanceAll(waiting.slice(half), without))
      )
    }
  }

  async function planAll(waiting: WaitingTask[], without?: Without): Promise<Planned[]> {
    const plannable = waiting.map((task) => ({
      ...task,
      steps: [...task.steps.filter((key) => key !== task.waitingFor), task.waitingFor],
    }))
    const decisions = await planner.decide(plannable, without)
    return plannable.flatMap((task, index) => {
      const decision = decisions[index]
      if (!decision || decision.kind === 'waiting' || (without && decision.kind === 'stop')) return []
      return [{ task, ...moveOf(task, decision) }]
    })
  }

  /** The tasks whose next lookup has an answer in the ledger. */
  async function answeredAlready(planned: Planned[]): Promise<WaitingTask[]> {
    const further = planned.flatMap(({ task, wanted }) =>
      wanted ? [{ ...task, waitingFor: wanted.key }] : [],
    )
    if (further.length === 0) return []
    const answered = await lookups.facts(further.map(({ waitingFor }) => waitingFor))
    return further.filter(({ waitingFor }) => answered.has(waitingFor))
  }

  async function want(planned: Planned[]): Promise<void> {
    const wanting = planned.flatMap(({ task, wanted }) => (wanted ? [{ task, wanted }] : []))
    for (const [id, group] of Map.groupBy(wanting, ({ task }) => task.runId)) {
      const [{ task }] = group as [(typeof wanting)[number]]
      await lookups.want(
        group.map(({ wanted }) => wanted),
        { id, connector: task.connector, hot: task.hot },
      )
    }
    if (wanting.length > 0) options.onWanted()
  }

  function announce(planned: Planned[]): void {
    const ready = planned.filter(({ move }) => move.status === 'ready')
    const groups = Map.groupBy(ready, ({ task }) => `${task.connector}/${task.entity}`)
    for (const [{ task }] of groups.values() as Iterable<[Planned]>) {
      options.onReady({ connector: task.connector, entity: task.entity })
    }
  }

  /** Every stopped step of these tasks counts: a task that has two of them would else go from one to the other for ever. */
  async function without(waiting: readonly WaitingTask[], keys: readonly LookupKey[], reason: string) {
    const others = await lookups.stopped(waiting.flatMap(({ steps }) => steps))
    const reasons = [...others, ...keys.map((key) => [key, reason] as const)]
    return new Map(
      reasons.map(([key, why]): [LookupKey, Fact] => [key, { outcome: 'failed', data: null, reason: why }]),
    )
  }

  return {
    async advanceTasksPast(keys, reason) {
      for (;;) {
        const waiting = await tasks.waitingFor(keys, pageSize)
        const moved = await advanceAll(waiting, await without(waiting, keys, reason))
        if (moved === 0 || waiting.length < pageSize) return
      }
    },

    async advanceTasksWaitingFor(keys) {
      for (;;) {
        const waiting = await tasks.waitingFor(keys, pageSize)
        // None moved: another run has asked for the same lookup again, and the tasks wait for that answer.
        if ((await advanceAll(waiting)) === 0 || waiting.length < pageSize) return
      }
    },
  }
}

type Without = ReadonlyMap<LookupKey, Fact>

interface Planned {
  task: WaitingTask
  move: TaskMove
  wanted?: LookupWanted
}

function moveOf(
  { id, steps }: WaitingTask,
  decision: Exclude<Decision, { kind: 'waiting' }>,
): Omit<Planned, 'task'> {
  const move = { id, waitingFor: null, steps, patch: null, reason: null }
  switch (decision.kind) {
    case 'lookup': {
      const { lookup } = decision
      return { wanted: lookup, move: { ...move, status: 'looking_up', waitingFor: lookup.key } }
    }
    case 'write':
      return { move: { ...move, status: 'ready', patch: decision.patch, reason: decision.reason } }
    case 'stop':
      return { move: { ...move, status: decision.status, reason: decision.reason } }
    case 'suppressed':
      return { move: { ...move, status: 'skipped', reason: 'suppressed' } }
  }
}
