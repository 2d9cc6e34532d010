import type { Connector, CurrentRecord, WriteResult } from '../connectors/connector.ts'
import { ConfigError, RetriableError } from '../domain/errors.ts'
import { fillBlank } from '../domain/policy.ts'
import type { Patch } from '../domain/record.ts'
import type { TaskStatus } from '../domain/words.ts'
import type { WriteBackJob } from '../queues/jobs.ts'
import type { Outcome } from '../queues/queues.ts'
import type { ReadyTask, TaskLedger } from '../store/tasks.ts'

/** A wait that is longer than this is told to whoever started the run. */
const longWaitMs = 60_000

export interface WriteBackOptions {
  tasks: Pick<TaskLedger, 'ready' | 'finish'>
  connector: (name: string) => Connector | undefined
  batchSize: number
  /** Something that a person must mend: nothing more can be written. */
  onHalt: (error: ConfigError) => void
  /** The source will take nothing for so long (a daily limit); the records stay ready. */
  onLongWait: (ms: number, reason: string) => void
}

interface Result {
  id: bigint
  status: TaskStatus
  patch: Patch | null
  reason: string | null
}

/**
 * Drains the ready tasks of one connector and entity, batch by batch: reads the records again, keeps what may be written
 * over what stands there now, writes, and stores each record's result. A crash after the write and before the results
 * are stored repeats the batch, and the second time finds nothing left to change.
 */
export function createWriteBack(options: WriteBackOptions) {
  return async function writeBack({ connector: name, entity }: WriteBackJob): Promise<Outcome> {
    const connector = options.connector(name)
    if (!connector) return
    for (;;) {
      const ready = await options.tasks.ready(name, entity, options.batchSize)
      if (ready.length === 0) return
      const written = await writeBatch(connector, entity, ready).catch(delayOrThrow)
      await options.tasks.finish(written.results)
      if (written.retryInMs !== undefined) return { againInMs: written.retryInMs }
    }
  }

  /** The whole batch could not be written: its records stay ready, and come again. */
  function delayOrThrow(error: unknown): { results: Result[]; retryInMs: number } {
    if (error instanceof ConfigError) {
      options.onHalt(error)
      return { results: [], retryInMs: longWaitMs }
    }
    if (!(error instanceof RetriableError)) throw error
    const retryInMs = error.retryAfterMs ?? 2_000
    if (retryInMs > longWaitMs) options.onLongWait(retryInMs, error.message)
    return { results: [], retryInMs }
  }
}

async function writeBatch(
  connector: Connector,
  entity: string,
  ready: ReadyTask[],
): Promise<{ results: Result[]; retryInMs: number | undefined }> {
  const current = await connector.read(
    entity,
    ready.map((task) => task.recordId),
  )
  const judged = ready.map((task) => ({ task, ...judge(task, current.get(task.recordId)) }))
  const toWrite = judged.filter(({ patch }) => patch !== undefined)
  const written = await connector.write(
    entity,
    toWrite.map(({ task, patch }) => ({ id: task.recordId, patch: patch as Patch })),
  )
  const results: Result[] = judged.flatMap(({ task, result }) => (result ? [{ ...result, id: task.id }] : []))
  let retryInMs: number | undefined
  written.forEach((outcome, index) => {
    const { task, patch } = toWrite[index] as (typeof toWrite)[number]
    if (outcome.status === 'retry') {
      retryInMs = Math.max(retryInMs ?? 0, outcome.afterMs)
      return
    }
    const reason = reasonOf(outcome)
    results.push({
      id: task.id,
      status: outcome.status,
      patch: outcome.status === 'written' ? (patch as Patch) : null,
      reason,
    })
  })
  return { results, retryInMs }
}

function reasonOf(outcome: WriteResult): string | null {
  if (outcome.status === 'rejected') {
    return `${outcome.field ? `${outcome.field}: ` : ''}${outcome.reason} (${outcome.code})`
  }
  if ('reason' in outcome) return outcome.reason
  if (outcome.status === 'written' && outcome.leftOut && outcome.leftOut.length > 0) {
    return `left out ${outcome.leftOut.map(({ field, code }) => `${field} (${code})`).join(', ')}`
  }
  return null
}

function judge(
  task: ReadyTask,
  record: CurrentRecord | undefined,
): { patch?: Patch; result?: Omit<Result, 'id'> } {
  switch (record?.state) {
    case 'present': {
      const patch = fillBlank(record.values, task.patch)
      if (Object.keys(patch).length > 0) return { patch }
      return { result: { status: 'unchanged', patch: null, reason: 'every field found is filled already' } }
    }
    case 'merged':
      return skipped(`the record was merged into ${record.into}`)
    case 'converted':
      return skipped('the lead was converted')
    default:
      return skipped('the record is gone')
  }
}

function skipped(reason: string): { result: Omit<Result, 'id'> } {
  return { result: { status: 'skipped', patch: null, reason } }
}
