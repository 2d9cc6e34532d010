import type { Connector, CurrentRecord, LeftOut, WriteResult } from '../../connectors/connector.ts'
import { ConfigError, PaydirtError, RetriableError } from '../../domain/errors.ts'
import type { FieldRule } from '../../domain/field-policy/field-policy.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import { identifiersOf, identifiersOfPatch, type Identifier } from '../../domain/subjects/identifiers.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { WriteBackJob } from '../../queues/jobs.ts'
import type { Outcome } from '../../queues/queues.ts'
import type { TaskOutcome } from '../../store/writes/confirm-writes.ts'
import type { FieldWriteLedger } from '../../store/writes/field-writes.ts'
import type { Intent, WriteHistory } from '../../store/writes/write-intents.ts'
import type { ReadyTask } from '../../store/runs/ready-tasks.ts'
import type { TaskLedger } from '../../store/runs/tasks.ts'
import { sourceOf } from './field-source.ts'
import { withJobChanges } from './job-changes.ts'
import { decideWrite, type WriteDecision } from './write-decision.ts'
import { aimOf, blockedFields } from './blocked-values.ts'
import { writeAccepted, type Refused } from './write-dropping-refused.ts'

/**
 * Where somebody has pressed a button lately, somebody may again: a night's records are written in smaller batches then, since
 * one that has begun is finished first.
 */
const hotPresenceMs = 10_000
/** A wait that is longer than this is told to whoever started the run. */
const longWaitMs = 60_000

export interface WriteBackOptions {
  tasks: Pick<TaskLedger, 'ready' | 'finish'>
  fieldWrites: Pick<FieldWriteLedger, 'history' | 'intend' | 'confirmWrites'>
  connector: (name: string) => Connector | undefined
  rule: (connector: string, field: string) => FieldRule
  formOf: (connector: Connector, entity: string) => Promise<RecordForm>
  /** Which of these subjects, by their place, are to be left alone. */
  suppressed: (subjects: readonly (readonly Identifier[])[]) => Promise<ReadonlySet<number>>
  batchSize: number
  /** Something that a person must mend: nothing more can be written. */
  onHalt: (error: ConfigError) => void
  /** The source will take nothing for so long (a daily limit); the records stay ready. */
  onLongWait: (ms: number, reason: string) => void
}

/** What the records of an entity can hold. */
export interface RecordForm {
  /** Whether they have a place for the field at all. */
  has(field: string): boolean
  /** A digest of where the field goes and how it is written there. */
  mapping(field: string): string
  /** How the values of a patch read once they stand in a record; what cannot stand there is left out. */
  standing(patch: Patch): Record<string, FieldValue>
}

interface Batch {
  results: TaskOutcome[]
  retryInMs: number | undefined
}

/**
 * Drains the ready tasks of one connector and entity, batch by batch: reads the records again, keeps what the rules allow
 * over what stands there now, stores what is about to be written over what, writes, and stores each record's result
 * together with its fields. A crash in between repeats the batch: what the first attempt wrote is found standing, counts
 * as written, and keeps the old values of before that attempt.
 */
export function createWriteBack(options: WriteBackOptions) {
  const { tasks, fieldWrites } = options
  const now = () => performance.now()
  const lastHotMs = new Map<string, number>()

  return async function writeBack({ connector: name, entity }: WriteBackJob): Promise<Outcome> {
    const connector = options.connector(name)
    if (!connector) return
    const most = connector.writesAtOnce ?? options.batchSize
    // Where more at once go another, cheaper way, they go that way.
    const few = connector.writesAtOnce === undefined ? most : Math.ceil(most / 4)
    const group = `${name}/${entity}`
    for (;;) {
      const isHotNear = now() - (lastHotMs.get(group) ?? -Infinity) < hotPresenceMs
      const found = await tasks.ready(name, entity, most)
      const hot = found.filter((task) => task.hot)
      if (hot.length > 0) lastHotMs.set(group, now())
      // A button's record does not wait for what a night has to write.
      const ready = oncePerRecord(hot.length > 0 ? hot : found.slice(0, isHotNear ? few : most))
      if (ready.length === 0) return
      const batch = await writeBatch(connector, entity, ready).catch(delayOrThrow)
      if (connector.capabilities.keepsValues) await fieldWrites.confirmWrites(batch.results)
      else await tasks.finish(batch.results)
      if (batch.retryInMs !== undefined) return { againInMs: batch.retryInMs }
      // What has become ready meanwhile has a flush of its own coming.
      if (found.length < most && ready.length === found.length) return
    }
  }

  /** The whole batch could not be written: its records stay ready, and come again. */
  function delayOrThrow(error: unknown): Batch {
    if (error instanceof ConfigError) {
      options.onHalt(error)
      return { results: [], retryInMs: longWaitMs }
    }
    // What time does not mend would come again for ever: the run ends, and says why.
    if (error instanceof PaydirtError && !(error instanceof RetriableError)) {
      options.onHalt(new ConfigError(error.code, error.message, { cause: error }))
      return { results: [], retryInMs: longWaitMs }
    }
    if (!(error instanceof RetriableError)) throw error
    const retryInMs = error.retryAfterMs ?? 2_000
    if (retryInMs > longWaitMs) options.onLongWait(retryInMs, error.message)
    return { results: [], retryInMs }
  }

  async function writeBatch(connector: Connector, entity: string, ready: ReadyTask[]): Promise<Batch> {
    const suppressed = await options.suppressed(
      ready.map(({ identity, patch }) => [...identifiersOf(identity), ...identifiersOfPatch(patch)]),
    )
    const results = ready.filter((_, index) => suppressed.has(index)).map(leftAlone)
    const wanted = ready.filter((_, index) => !suppressed.has(index))
    if (wanted.length === 0) return { results, retryInMs: undefined }
    const ids = wanted.map((task) => task.recordId)
    const current = await connector.read(entity, ids)
    const history = connector.capabilities.keepsValues
      ? await fieldWrites.history(
          connector.name,
          entity,
          ids,
          wanted.map(({ id }) => id),
        )
      : noHistory
    const form = connector.capabilities.keepsValues ? await options.formOf(connector, entity) : undefined
    const judged = wanted.map((each) => {
      const task = form ? { ...each, patch: placed(each.patch, form) } : each
      const rule = (field: string) => options.rule(connector.name, field)
      const aside = history.blocked.get(task.recordId) ?? []
      const standing = form?.standing(task.patch)
      const judgement = decideWrite(task, current.get(task.recordId) as CurrentRecord, {
        ours: history.ours.get(task.recordId) ?? {},
        open: history.open.get(task.id) ?? [],
        rule,
        ...(form && standing
          ? {
              standing,
              setAside: blockedFields(aside, {
                proposed: task.patch,
                standing,
                rule,
                mapping: form.mapping,
              }),
            }
          : {}),
      })
      return { task, judgement, standing: standing ?? {} }
    })
    results.push(...judged.flatMap(({ task, judgement }) => endedBefore(task, judgement)))
    const toWrite = judged.flatMap(({ task, judgement, standing }): Writing[] =>
      judgement.kind === 'write' ? [{ task, judgement, standing }] : [],
    )
    const settled = (retryInMs?: number): Batch => ({
      // A company has no job.
      results: connector.entities[entity] === 'person' ? withJobChanges(results, wanted, current) : results,
      retryInMs,
    })
    if (toWrite.length === 0) return settled()
    if (form) await intend(connector, entity, toWrite, form)
    const sent = await writeAccepted(
      connector,
      entity,
      toWrite.map(({ task, judgement }) => ({ id: task.recordId, patch: judgement.patch })),
    )
    let retryInMs: number | undefined
    sent.forEach(({ outcome, patch, refused }, index) => {
      const writing = toWrite[index] as Writing
      if (outcome.status === 'retry') retryInMs = Math.max(retryInMs ?? 0, outcome.afterMs)
      else results.push(ended(writing, outcome, patch, refused))
    })
    return settled(retryInMs)
  }

  /** Crash window: from here on the CRM may hold these values, whatever becomes of this process. */
  async function intend(
    connector: Connector,
    entity: string,
    toWrite: Writing[],
    form: RecordForm,
  ): Promise<void> {
    const intents = toWrite.flatMap(({ task, judgement, standing }) =>
      Object.keys(judgement.patch).flatMap((field): Intent[] => {
        const aim = aimOf(field, { proposed: judgement.patch, standing, mapping: form.mapping })
        if (!aim) return []
        const intent = {
          taskId: task.id,
          runId: task.runId,
          recordId: task.recordId,
          field,
          old: judgement.current.values[field] ?? null,
          ...oldRaw(judgement.current, field),
          new: aim.value,
          lookupKey: sourceOf(field, connector.entities[entity] as ObjectKind, task.steps),
          rule: options.rule(connector.name, field),
          mapping: aim.mapping,
        }
        return [intent]
      }),
    )
    const own = toWrite.flatMap(({ task, judgement }) =>
      judgement.current.own ? [{ taskId: task.id, values: judgement.current.own }] : [],
    )
    await fieldWrites.intend(connector.name, entity, intents, own)
  }
}

interface Writing {
  task: ReadyTask
  judgement: Extract<WriteDecision, { kind: 'write' }>
  /** How the task's values read once they stand in the record. */
  standing: Readonly<Record<string, FieldValue>>
}
type Present = Extract<CurrentRecord, { state: 'present' }>

const noHistory: WriteHistory = { ours: new Map(), open: new Map(), blocked: new Map() }

function placed(patch: Patch, form: RecordForm): Patch {
  return Object.fromEntries(Object.entries(patch).filter(([field]) => form.has(field)))
}

/** Of several tasks for one record the first comes now: the others are judged by what it leaves there. */
function oncePerRecord(ready: ReadyTask[]): ReadyTask[] {
  const seen = new Set<string>()
  return ready.filter(({ recordId }) => !seen.has(recordId) && seen.add(recordId))
}

function leftAlone({ id }: ReadyTask): TaskOutcome {
  return { id, status: 'skipped', patch: null, reason: 'suppressed', written: [], unknown: [] }
}

/** Tasks of which nothing is sent: their record is gone, nothing may be written, or an earlier attempt wrote it all. */
function endedBefore(task: ReadyTask, judgement: WriteDecision): TaskOutcome[] {
  if (judgement.kind === 'end')
    return [
      {
        id: task.id,
        status: judgement.status,
        patch: null,
        reason: judgement.reason,
        written: [],
        unknown: judgement.unknown,
      },
    ]
  if (judgement.kind === 'written') return [writtenResult(task, judgement, Object.keys(judgement.done), null)]
  return []
}

function ended(
  { task, judgement, standing }: Writing,
  outcome: Exclude<WriteResult, { status: 'retry' }>,
  lastSent: Patch,
  refused: readonly Refused[],
): TaskOutcome {
  const done = Object.keys(judgement.done)
  const leftOut = outcome.status === 'written' ? (outcome.leftOut ?? []).map(unsent) : []
  const last = outcome.status === 'rejected' && outcome.field !== undefined ? [outcome as Refused] : []
  const out = [...refused, ...leftOut, ...last]
  // Of what was never sent only that is remembered which the field cannot hold: rights and missing fields are another matter.
  const rejected = out.filter((each) => !each.unsent || !Object.hasOwn(standing, each.field))
  if (outcome.status === 'written') {
    const isOut = new Set(out.map(({ field }) => field))
    const sent = Object.keys(lastSent).filter((field) => !isOut.has(field))
    return { ...writtenResult(task, judgement, [...done, ...sent], leftOutReason(out)), rejected }
  }
  const reason = out[0] ? refusal(out[0]) : reasonOf(outcome)
  // What an earlier attempt has written is written, whatever becomes of the rest.
  if (done.length > 0) return { ...writtenResult(task, judgement, done, reason), rejected }
  return {
    id: task.id,
    status: outcome.status,
    patch: null,
    reason,
    written: [],
    unknown: judgement.unknown,
    rejected,
  }
}

function unsent(leftOut: LeftOut): Refused {
  return { ...leftOut, unsent: true }
}

function writtenResult(
  task: ReadyTask,
  judgement: Extract<WriteDecision, { kind: 'write' | 'written' }>,
  fields: string[],
  reason: string | null,
): TaskOutcome {
  const all: Patch = { ...judgement.done, ...judgement.patch }
  return {
    id: task.id,
    status: 'written',
    patch: Object.fromEntries(Object.entries(all).filter(([field]) => fields.includes(field))),
    replaced: fields.filter((field) => judgement.replaces.has(field)),
    reason: [task.reason, reason].filter((part) => part !== null).join('; ') || null,
    written: fields,
    unknown: judgement.unknown,
  }
}

function reasonOf(outcome: WriteResult): string | null {
  if (outcome.status === 'rejected') return refusal(outcome)
  return 'reason' in outcome ? outcome.reason : null
}

function refusal({ field, code, reason }: { field?: string; code: string; reason: string }): string {
  return `${field === undefined ? '' : `${field}: `}${reason} (${code})`
}

function leftOutReason(leftOut: readonly LeftOut[]): string | null {
  if (leftOut.length === 0) return null
  return `left out ${leftOut.map(({ field, code }) => `${field} (${code})`).join(', ')}`
}

function oldRaw({ values, raw }: Present, field: string): { oldRaw?: FieldValue } {
  const standing = raw ? raw[field] : values[field]
  return standing === undefined ? {} : { oldRaw: standing }
}
