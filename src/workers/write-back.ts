import type { Connector, CurrentRecord } from '../connectors/connector.ts'
import { fillBlank } from '../domain/policy.ts'
import type { Patch } from '../domain/record.ts'
import type { TaskStatus } from '../domain/words.ts'
import type { WriteBackJob } from '../queues/jobs.ts'
import type { Outcome } from '../queues/queues.ts'
import type { ReadyTask, TaskLedger } from '../store/tasks.ts'

export interface WriteBackOptions {
  tasks: Pick<TaskLedger, 'ready' | 'finish'>
  connector: (name: string) => Connector | undefined
  batchSize: number
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
      const { results, retryInMs } = await writeBatch(connector, entity, ready)
      await options.tasks.finish(results)
      if (retryInMs !== undefined) return { againInMs: retryInMs }
    }
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
    const reason = 'reason' in outcome ? outcome.reason : null
    results.push({
      id: task.id,
      status: outcome.status,
      patch: outcome.status === 'written' ? (patch as Patch) : null,
      reason,
    })
  })
  return { results, retryInMs }
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
