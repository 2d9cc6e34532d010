import type { LookupKey } from '../domain/keys.ts'
import type { PlannedRecord, Stop } from '../domain/planning/planner.ts'
import type { LookupLedger } from '../store/ledger/lookups.ts'
import type { Run } from '../store/runs/runs.ts'
import type { NewTask } from '../store/runs/tasks.ts'
import type { Advance } from './advance.ts'
import type { StepPlanner } from './step-planner.ts'

export type BeginningRun = Pick<Run, 'id' | 'connector' | 'recipe' | 'trigger'>

export interface RecordToBegin extends PlannedRecord {
  ordinal: number
  /** Set where the record itself decides: it cannot be read, it is gone, its last change was our own. */
  ended?: Stop | undefined
}

/** The first state of a record's task. */
type BegunTask = Omit<NewTask, 'ordinal' | 'recordId'>

export interface BeginOptions {
  planner: StepPlanner
  lookups: Pick<LookupLedger, 'want' | 'facts'>
  /** Absent for a plan: then tasks are stored, and no lookup is asked for. */
  advance?: Pick<Advance, 'advanceTasksWaitingFor'> | undefined
  /** Returns the first record of the run under each key, among those stored before. Absent: none is. */
  firstOrdinals?: (keys: LookupKey[]) => Promise<Map<LookupKey, number>>
  /** Stores one task a record, in order. `wanted` are the lookups that they wait for. */
  store: (tasks: BegunTask[], wanted: LookupKey[]) => Promise<void>
}

/**
 * Decides the first step of each record, asks the ledger for the lookups, and stores the tasks. Tasks whose answer is in
 * the ledger already are advanced at once.
 */
export async function beginTasks(
  run: BeginningRun,
  records: readonly RecordToBegin[],
  { planner, lookups, advance, firstOrdinals, store }: BeginOptions,
): Promise<void> {
  const decisions = await planner.decide(
    records.map((record) => ({ ...record, runId: run.id, recipe: run.recipe, steps: [] })),
  )
  const wanted = decisions.flatMap((decision) => (decision.kind === 'lookup' ? [decision.lookup] : []))
  const keys = wanted.map(({ key }) => key)
  const firsts = (await firstOrdinals?.(keys)) ?? new Map<LookupKey, number>()
  if (advance)
    await lookups.want(wanted, { id: run.id, connector: run.connector, hot: run.trigger === 'button' })
  const tasks = records.map(({ ordinal, identity }, index): BegunTask => {
    const task = { identity, lookupKey: null, duplicateOf: null, waitingFor: null }
    const decision = decisions[index]
    switch (decision?.kind) {
      case 'lookup': {
        const { key } = decision.lookup
        const first = firsts.get(key)
        if (first === undefined) firsts.set(key, ordinal)
        return {
          identity,
          status: advance ? 'looking_up' : 'queued',
          lookupKey: key,
          duplicateOf: first ?? null,
          waitingFor: advance ? key : null,
          reason: null,
        }
      }
      case 'stop':
        return { ...task, status: decision.status, reason: decision.reason }
      case 'suppressed':
        // Nothing is kept of a suppressed subject.
        return { ...task, identity: {}, status: 'skipped', reason: 'suppressed' }
      default:
        throw new Error('a record without answers can neither be written nor wait')
    }
  })
  await store(tasks, keys)
  if (!advance) return
  // A lookup answered before the tasks were stored found none of them waiting.
  const answered = [...(await lookups.facts(keys)).keys()]
  if (answered.length > 0) await advance.advanceTasksWaitingFor(answered)
}
