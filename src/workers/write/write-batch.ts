import type { Connector } from '../../connectors/connector.ts'
import { writeTargetOf } from '../../domain/field-policy/blocked-values.ts'
import type { PresentRecord } from '../../domain/field-policy/current-record.ts'
import type { FieldRule } from '../../domain/field-policy/field-policy.ts'
import type { FieldValue } from '../../domain/record.ts'
import { identifiersOf, identifiersOfPatch, type Identifier } from '../../domain/subjects/identifiers.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { waitOutside } from '../../store/database/go-first.ts'
import type { ReadyTask } from '../../store/runs/ready-tasks.ts'
import type { TaskOutcome } from '../../store/writes/task-outcome.ts'
import { mergesIn, type MergedRecords } from '../../store/runs/merged-records.ts'
import type { Intent } from '../../store/writes/store-intents.ts'
import type { WriteHistory, WriteIntents } from '../../store/writes/write-intents.ts'
import { inTurns } from '../../timing/in-turns.ts'
import { decideTask } from './decide-task.ts'
import { sourceOf } from './field-source.ts'
import { withJobChanges } from './job-changes.ts'
import type { RecordForm } from './record-form.ts'
import { outcomeOfWrite, outcomeWithoutWrite, suppressedOutcome, type Writing } from './task-outcomes.ts'
import { writeAccepted } from './write-dropping-refused.ts'

export interface WriteBatchOptions {
  fieldWrites: Pick<WriteIntents, 'history' | 'intend'> & Pick<MergedRecords, 'noteMerges'>
  rule: (connector: string, field: string, trigger: string | undefined) => FieldRule
  formOf: (connector: Connector, entity: string) => Promise<RecordForm>
  /** The hosts of the network, on all of which a profile is the same. Default: the published ones. */
  networkHosts?: readonly string[] | undefined
  /** Returns the indexes of the suppressed subjects. */
  suppressed: (subjects: () => readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
}

export interface BatchResult {
  outcomes: TaskOutcome[]
  /** Set when some records have to be written again after this time. */
  retryInMs: number | undefined
}

const noHistory: WriteHistory = {
  ours: new Map(),
  open: new Map(),
  blocked: new Map(),
  undone: new Map(),
  wrote: new Map(),
}

/**
 * Writes one batch of ready tasks: reads their records again, decides which fields to write over the current values,
 * stores what is about to be written, and writes. The caller stores the outcomes.
 */
export function createWriteBatch(options: WriteBatchOptions) {
  const { fieldWrites } = options

  return async function writeBatch(
    connector: Connector,
    entity: string,
    ready: ReadyTask[],
  ): Promise<BatchResult> {
    const suppressed = await options.suppressed(() =>
      ready.map(({ identity, patch }) => [...identifiersOf(identity), ...identifiersOfPatch(patch)]),
    )
    const outcomes = ready.filter((_, index) => suppressed.has(index)).map(suppressedOutcome)
    const allowed = ready.filter((_, index) => !suppressed.has(index))
    if (allowed.length === 0) return { outcomes, retryInMs: undefined }
    const ids = allowed.map((task) => task.recordId)
    const { keepsValues } = connector.capabilities
    const taskIds = allowed.map(({ id }) => id)
    const historyOf = () => fieldWrites.history(connector.name, entity, ids, taskIds)
    const later: (() => Promise<void>)[] = []
    const [current, known, form] = await Promise.all([
      waitOutside(() => connector.read(entity, ids, (work) => void later.push(work))),
      keepsValues ? historyOf() : noHistory,
      keepsValues ? options.formOf(connector, entity) : undefined,
    ])
    const merges = keepsValues ? mergesIn(current) : []
    if (merges.length > 0) await fieldWrites.noteMerges(connector.name, entity, merges)
    // It includes what was written under the ids of merged records, of which the ledger may not have known.
    const history = merges.length > 0 ? await historyOf() : known
    const object = connector.entities[entity] as ObjectKind
    const decided = await inTurns(allowed, (each) => {
      const { patch, decision, standing } = decideTask(each, current.get(each.recordId), {
        object,
        form,
        history,
        rule: (field) => options.rule(connector.name, field, each.trigger),
        hosts: options.networkHosts,
      })
      return { task: { ...each, patch }, decision, standing }
    })
    outcomes.push(...decided.flatMap(({ task, decision }) => outcomeWithoutWrite(task, decision)))
    const toWrite = decided.flatMap(({ task, decision, standing }): Writing[] =>
      decision.kind === 'write' ? [{ task, decision, standing }] : [],
    )
    const finished = (retryInMs?: number): BatchResult => ({
      // Only a person has a job that can change.
      outcomes:
        connector.entities[entity] === 'person' ? withJobChanges(outcomes, allowed, current) : outcomes,
      retryInMs,
    })
    // The index learns from the records as they were read, before it learns from the write.
    const stored = await Promise.allSettled([
      form && toWrite.length > 0 ? storeIntents(connector, entity, toWrite, form) : undefined,
      ...later.map((work) => work()),
    ])
    for (const each of stored) if (each.status === 'rejected') throw each.reason
    if (toWrite.length === 0) return finished()
    const patches = toWrite.map(({ task, decision }) => ({ id: task.recordId, patch: decision.patch }))
    const sent = await waitOutside(() => writeAccepted(connector, entity, patches))
    let retryInMs: number | undefined
    sent.forEach(({ outcome, patch, refused }, index) => {
      if (outcome.status === 'retry') retryInMs = Math.max(retryInMs ?? 0, outcome.afterMs)
      else outcomes.push(outcomeOfWrite(toWrite[index] as Writing, outcome, patch, refused))
    })
    return finished(retryInMs)
  }

  /** Crash window: from here on the CRM may hold these values, even if this process dies. */
  async function storeIntents(
    connector: Connector,
    entity: string,
    toWrite: Writing[],
    form: RecordForm,
  ): Promise<void> {
    const object = connector.entities[entity] as ObjectKind
    const intents = await inTurns(toWrite, ({ task, decision, standing }) =>
      Object.keys(decision.patch).flatMap((field): Intent[] => {
        const target = writeTargetOf(field, { proposed: decision.patch, standing, mapping: form.mapping })
        if (!target) return []
        const intent = {
          taskId: task.id,
          runId: task.runId,
          recordId: task.recordId,
          field,
          old: decision.current.values[field] ?? null,
          oldRaw: rawValueOf(decision.current, field),
          new: target.value,
          lookupKey: sourceOf(field, object, task.steps),
          rule: options.rule(connector.name, field, task.trigger),
          mapping: target.mapping,
        }
        return [intent]
      }),
    )
    const own = toWrite.flatMap(({ task, decision }) =>
      decision.current.own
        ? [{ taskId: task.id, recordId: task.recordId, values: decision.current.own }]
        : [],
    )
    await fieldWrites.intend(intents.flat(), own)
  }
}

function rawValueOf({ values, raw }: PresentRecord, field: string): FieldValue | undefined {
  return raw ? raw[field] : values[field]
}
