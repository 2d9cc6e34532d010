import type { LookupKey } from '../domain/keys.ts'
import type { PlannedRecord, Stop } from '../domain/planning/planner.ts'
import type { FieldSource } from '../domain/ports/field-source.ts'
import type { LookupLedger, OnDue } from '../store/ledger/lookups.ts'
import type { Run, RunLedger } from '../store/runs/runs.ts'
import type { NewTask } from '../store/runs/tasks.ts'
import type { Advance } from './advance.ts'
import type { WriteHistory } from '../store/writes/write-intents.ts'
import type { ClosedFieldsFinder } from './closed-fields.ts'
import type { StepPlanner } from './step-planner.ts'

export type BeginningRun = Pick<
  Run,
  'id' | 'connector' | 'object' | 'entity' | 'recipe' | 'trigger' | 'source'
>

export interface RecordToBegin extends Omit<PlannedRecord, 'closed'> {
  /** The connector's own id. */
  id: string
  ordinal: number
  /** Set where the record itself decides: it cannot be read, it is gone, its last change was our own. */
  ended?: Stop | undefined
}

/** The first state of a record's task. */
type BegunTask = Omit<NewTask, 'ordinal' | 'recordId'>

export interface BeginOptions {
  connector: FieldSource
  planner: StepPlanner
  closedFields: ClosedFieldsFinder
  /** Our earlier writes into the records, where they were read with them. */
  history?: Promise<WriteHistory | undefined> | undefined
  runs: Pick<RunLedger, 'setClosed'>
  lookups: Pick<LookupLedger, 'want' | 'facts'>
  /** Absent for a plan: then tasks are stored, and no lookup is asked for. */
  advance?: Pick<Advance, 'advanceTasksWaitingFor'> | undefined
  /** Returns the first record of the run under each key, among those stored before. Absent: none is. */
  firstOrdinals?: (keys: LookupKey[]) => Promise<Map<LookupKey, number>>
  /**
   * Called when lookups are due, before the tasks are stored that wait for them. One that is answered by then moves them on
   * all the same, because the ledger is asked for answers after the tasks are stored.
   */
  onDue?: OnDue | undefined
  /** Stores one task a record, in order. */
  store: (tasks: BegunTask[]) => Promise<void>
}

/**
 * Decides the first step of each record, asks the ledger for the lookups, and stores the tasks. Tasks whose answer is in
 * the ledger already are advanced at once.
 */
export async function beginTasks(
  run: BeginningRun,
  records: readonly RecordToBegin[],
  options: BeginOptions,
): Promise<void> {
  const { connector, planner, closedFields, runs, lookups, advance, firstOrdinals, onDue, store } = options
  const { ofRun, ofRecords } = await closedFields.find(connector, run, { dryRun: advance === undefined })
  const ofRecord = await ofRecords(records, options.history)
  const decisions = await planner.decide(
    records.map((record, index) => ({
      ...record,
      closed: { ...ofRecord[index], ...ofRun },
      runId: run.id,
      recipe: run.recipe,
      steps: [],
    })),
  )
  const wanted = decisions.flatMap((decision) => (decision.kind === 'lookup' ? [decision.lookup] : []))
  const keys = wanted.map(({ key }) => key)
  const firsts = (await firstOrdinals?.(keys)) ?? new Map<LookupKey, number>()
  const asker = { id: run.id, connector: run.connector, hot: run.trigger === 'button' }
  await Promise.all([
    advance && lookups.want(wanted, asker, onDue),
    // Stored before the tasks: a worker that plans their next steps goes by the same fields.
    runs.setClosed(run.id, ofRun),
  ])
  const tasks = records.map(({ ordinal, identity }, index): BegunTask => {
    const closed = ofRecord[index] ?? {}
    const task = { identity, closed, lookupKey: null, duplicateOf: null, waitingFor: null }
    const decision = decisions[index]
    switch (decision?.kind) {
      case 'lookup': {
        const { key } = decision.lookup
        const first = firsts.get(key)
        if (first === undefined) firsts.set(key, ordinal)
        return {
          identity,
          closed,
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
        return { ...task, identity: {}, closed: {}, status: 'skipped', reason: 'suppressed' }
      default:
        throw new Error('a record without answers can neither be written nor wait')
    }
  })
  await store(tasks)
  if (!advance) return
  // A lookup answered before the tasks were stored found none of them waiting.
  const answered = [...(await lookups.facts(keys)).keys()]
  if (answered.length > 0) await advance.advanceTasksWaitingFor(answered)
}
