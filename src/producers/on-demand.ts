import type { Connector } from '../connectors/connector.ts'
import { definitionOf } from '../connectors/definitions.ts'
import { PaydirtError, type ConfigError } from '../domain/errors.ts'
import { absentReason, absentStatus } from '../domain/field-policy/current-record.ts'
import { stop, type Stop } from '../domain/planning/step.ts'
import type { LookupKey } from '../domain/keys.ts'
import type { ObjectKind } from '../domain/words.ts'
import type { Advance } from '../planning/advance.ts'
import { beginTasks, type RecordToBegin } from '../planning/begin-tasks.ts'
import type { ClosedFieldsFinder } from '../planning/closed-fields.ts'
import type { StepPlanner } from '../planning/step-planner.ts'
import { goFirst, waitOutside } from '../store/database/go-first.ts'
import type { LookupLedger } from '../store/ledger/lookups.ts'
import type { WaitingTasks } from '../store/runs/waiting-tasks.ts'
import type { OnDemandLedger, OnDemandTask } from '../store/runs/on-demand-tasks.ts'
import type { Run, RunLedger } from '../store/runs/runs.ts'
import { asPeople } from './as-people.ts'
import { createReadTogether } from './read-together.ts'
import type { FoundRecord } from './records-by-id.ts'

export interface OnDemandOptions {
  ledger: OnDemandLedger
  runs: Pick<RunLedger, 'get' | 'setClosed'>
  lookups: Pick<LookupLedger, 'want' | 'facts' | 'stopped'>
  tasks: Pick<WaitingTasks, 'parkLate'>
  planner: StepPlanner
  closedFields: ClosedFieldsFinder
  /** Called while the CRM answers: reads what the planner asks first. */
  beforePlanning: () => Promise<void>
  advance: Advance
  /** Returns undefined in a process that has no access to the connector: another process begins its tasks. */
  connector: (name: string) => Connector | undefined
  /** Throws ConfigError while the entity cannot be written, because our own fields or a permission is missing. */
  ready: (connector: Connector, entity: string) => Promise<void>
  /** Returns why a run may not begin at the prices of its recipe's steps. */
  refusal: (connector: Connector, run: JudgedRun) => Promise<ConfigError | undefined>
  /** Returns the recipe to use for an object: the named one, or the default where the object has none of that name. */
  recipeFor: (object: ObjectKind, name: string) => string
  now: () => Date
  newRunId: () => string
  onError: (error: unknown) => void
  /** Called with lookups that a person waits for, once they are in the ledger. A hint: the enqueuer finds them anyway. */
  onHot?: ((keys: LookupKey[], isNew: ReadonlySet<LookupKey>) => void) | undefined
  /**
   * Called after that, and waited for: until the lookup is on its way to the service, it needs the database and the processors for
   * itself. The rest is stored while the service works.
   */
  letGo: () => Promise<void>
}

export interface RequestedRecords {
  connector: string
  object: ObjectKind
  entity: string
  ids: readonly string[]
  recipe: string
  /** `button` takes the fast lane. */
  trigger: 'button' | 'workflow' | 'monitor'
  /** The caller, for the run's own record: a system or a token, never a person. */
  source: Record<string, unknown>
}

export interface OnDemand {
  /**
   * Makes a task of each record, or finds the one made of it within the last minute, and returns at once. The tasks are
   * begun in the background. If the process dies first, `beginForgotten` begins them. Throws ConfigError, and makes none,
   * when the recipe goes above its price caps; what a monitor has found is stored all the same, and waits for the caps.
   */
  request(asked: RequestedRecords): Promise<OnDemandTask[]>
  /** Reads the run's records and asks for the lookups they need. Idempotent. */
  begin(runId: string): Promise<void>
  /** Begins tasks whose process died or whose CRM was unavailable. Returns the number of runs. */
  beginForgotten(connectors: readonly string[]): Promise<number>
  /** Resolves when no task is being begun. */
  idle(): Promise<void>
}

type JudgedRun = Pick<Run, 'connector' | 'object' | 'entity' | 'recipe' | 'source'>
type BegunRun = JudgedRun & Pick<Run, 'id' | 'trigger'>

/** Records at the CRM and what the ledger has of them: all that a task begins with. */
interface Reading {
  found: Promise<Map<string, FoundRecord>>
  history: ReturnType<ClosedFieldsFinder['historyOf']>
  /** The steps in which the index learns from the records, for later. */
  learn: (() => Promise<void>)[]
}

interface Queued {
  id: bigint
  ordinal: number
  recordId: string
}

const repeatWindowMs = 60_000
const forgottenAfterMs = 15_000

/**
 * Handles on-demand requests: a button, a workflow's step or a monitor's signal names records by their ids. The tasks are
 * stored first, and their ids are the answer to the caller. Their records are read then, those of a button meanwhile, and planned like
 * those of a scan.
 */
export function createOnDemand(options: OnDemandOptions): OnDemand {
  const { ledger, now } = options
  const underWay = new Set<Promise<void>>()
  const readTogether = createReadTogether()

  function beginSoon(run: BegunRun, tasks: readonly Queued[], reading?: Reading): void {
    const begin = () => beginQueued(run, tasks, reading)
    const begun = (run.trigger === 'button' ? goFirst(begin) : begin()).catch(options.onError)
    underWay.add(begun)
    void begun.finally(() => underWay.delete(begun))
  }

  /** `undefined`: the CRM does not answer, and the decision is left to the beginning of the tasks. `null`: nothing is against it. */
  async function refusalNow(connector: Connector, run: JudgedRun): Promise<ConfigError | null | undefined> {
    try {
      return (await options.refusal(connector, run)) ?? null
    } catch (error) {
      if (error instanceof PaydirtError) return undefined
      throw error
    }
  }

  async function begin(runId: string): Promise<void> {
    const run = await options.runs.get(runId)
    if (run) await beginQueued(run, await ledger.queued(runId))
  }

  /** The ledger is read while the CRM answers. An error is that of whoever needs it. */
  function startReading(connector: Connector, entity: string, ids: readonly string[]): Reading {
    const learn: Reading['learn'] = []
    const history = options.closedFields.historyOf(connector, entity, ids)
    const found = options
      .ready(connector, entity)
      .then(() => readTogether(connector, entity, ids, (work) => void learn.push(work)))
    for (const read of [history, found, options.beforePlanning()]) read.catch(() => {})
    return { found, history, learn }
  }

  async function beginQueued(run: BegunRun, queued: readonly Queued[], begun?: Reading): Promise<void> {
    const connector = options.connector(run.connector)
    if (!connector || queued.length === 0) return
    let found: Map<string, FoundRecord>
    let reading: Reading
    try {
      const refused = await options.refusal(connector, run)
      if (refused) throw refused
      const ids = queued.map(({ recordId }) => recordId)
      const started = (reading = begun ?? startReading(connector, run.entity, ids))
      found = await waitOutside(() => started.found)
    } catch (error) {
      if (!(error instanceof PaydirtError)) throw error
      // The tasks stay queued with this reason: the CRM may be available, or the caps raised, at the next attempt.
      await ledger.delay(run.id, error.message)
      options.onError(error)
      return
    }
    const records = queued.map(({ ordinal, recordId }) =>
      recordToBegin(run.object, { id: recordId, ordinal }, found.get(recordId)),
    )
    const { planner, closedFields, runs, lookups, advance } = options
    let learnt: Promise<unknown> | undefined
    const learnOnce = () => (learnt ??= Promise.all(reading.learn.map((work) => work())))
    const due: LookupKey[] = []
    await beginTasks(run, records, {
      connector,
      closedFields,
      history: reading.history,
      runs,
      planner,
      lookups,
      advance,
      async onDue(keys, isNew) {
        if (run.trigger === 'button' && options.onHot) {
          options.onHot(keys, isNew)
          due.push(...keys)
          await waitOutside(options.letGo)
        }
        // Beside the lookups. An error is that of the tasks, below.
        learnOnce().catch(() => {})
      },
      async store(tasks) {
        // Before a worker reads or writes the records of these tasks: what it learns is newer.
        await learnOnce()
        await ledger.begin(tasks.map((task, index) => ({ ...task, id: (queued[index] as Queued).id })))
      },
    })
    if (due.length > 0) await passParked(due)
  }

  /** A worker may have parked a lookup before the task was stored that waits for it. The sweep would find it some seconds later. */
  async function passParked(keys: LookupKey[]): Promise<void> {
    const { lookups, advance, tasks } = options
    // Records that have something without a stopped operation go on first.
    for (const [key, reason] of await lookups.stopped(keys)) await advance.advanceTasksPast([key], reason)
    await tasks.parkLate(keys)
  }

  return {
    async request(asked) {
      const ids = [...new Set(asked.ids.map((id) => recordIdOf(asked.connector, id)))]
      const tasks: OnDemandTask[] = []
      const connector = options.connector(asked.connector)
      const groups = await asPeople(connector, { ...asked, ids }, options.recipeFor)
      const allowed = new Set<JudgedRun>()
      for (const group of groups) {
        const refused = connector && asked.trigger !== 'monitor' ? await refusalNow(connector, group) : null
        if (refused) throw refused
        if (refused === null) allowed.add(group)
      }
      for (const group of groups) {
        const opening = ledger.openTasks({ ...group, runId: options.newRunId() }, repeatWindowMs)
        // Records in the fast lane are read meanwhile, in vain where they were asked for within the last minute.
        const isRead = connector && asked.trigger === 'button' && allowed.has(group)
        const reading = isRead ? startReading(connector, group.entity, group.ids) : undefined
        const opened = await opening
        tasks.push(...opened)
        const made = opened.filter(({ isNew }) => isNew)
        const [first] = made
        if (first)
          beginSoon(
            { ...group, id: first.runId },
            made.map(({ taskId: id, ordinal, recordId }) => ({ id, ordinal, recordId })),
            reading,
          )
      }
      return tasks
    },

    begin,

    async beginForgotten(connectors) {
      const runs = await ledger.notBegun(connectors, new Date(now().getTime() - forgottenAfterMs))
      for (const id of runs) {
        // A run that cannot be begun must not block the others.
        await begin(id).catch(options.onError)
      }
      return runs.length
    },

    async idle() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

/** Returns the form of a record's id under which the ledger keeps it. */
export function recordIdOf(connector: string, id: string): string {
  return definitionOf(connector).canonicalId(id)
}

function recordToBegin(
  object: ObjectKind,
  place: { id: string; ordinal: number },
  found: FoundRecord | undefined,
): RecordToBegin {
  if (found?.state !== 'present')
    return { ...place, object, identity: {}, ended: stop(absentStatus(found), absentReason(found)) }
  const { record, values } = found
  const ended: Stop | undefined =
    record.unreadable === undefined ? undefined : stop('rejected', record.unreadable)
  return { ...place, object, identity: record.identity, values, ended }
}
