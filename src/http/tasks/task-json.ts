import { z } from 'zod'
import { formatUsd } from '../../domain/money.ts'
import { closedReasons } from '../../domain/planning/could-write.ts'
import { closedWords } from '../../domain/planning/wanted-fields.ts'
import { objectKinds, taskStatuses } from '../../domain/words.ts'
import type { TaskView } from '../../store/runs/task-view.ts'
import type { TaskIds } from './task-ids.ts'
import { isOpen } from './task-watch.ts'

export const statusSchema = z
  .enum(taskStatuses)
  .describe('queued, looking_up and ready are in progress; a parked task resumes by itself or needs action')

export const fieldSchema = z.object({ name: z.string(), label: z.string(), value: z.string() })

export const leftOutSchema = z
  .array(z.object({ name: z.string(), label: z.string(), why: z.enum(closedReasons), reason: z.string() }))
  .describe('Fields of the recipe that could not be written, and why: nothing was bought for them')

export const taskSchema = z.object({
  id: z.string(),
  runId: z.string(),
  connector: z.string(),
  object: z.enum(objectKinds),
  entity: z.string(),
  recordId: z.string(),
  recipe: z.string(),
  status: statusSchema,
  reason: z.string().nullable(),
  done: z.boolean().describe('True when the task has ended or is parked'),
  fields: z.array(fieldSchema).describe('The fields that were written'),
  leftOut: leftOutSchema,
  costUsd: z.string().describe('Settled, with six decimal places'),
  currency: z
    .enum(['USD', 'credit'])
    .describe('The currency it was paid in; credits are converted at their price'),
  updatedAt: z.iso.datetime(),
})
export type TaskJson = z.infer<typeof taskSchema>

export function taskJson(view: TaskView, ids: TaskIds): TaskJson {
  return {
    id: ids.nameOf(view.id),
    runId: view.runId,
    connector: view.connector,
    object: view.object,
    entity: view.entity,
    recordId: view.recordId,
    recipe: view.recipe,
    status: view.status,
    reason: view.reason,
    done: !isOpen(view.status),
    fields: writtenFields(view),
    leftOut: leftOutOf(view),
    costUsd: formatUsd(view.costAtomic),
    currency: view.currency,
    updatedAt: view.updatedAt.toISOString(),
  }
}

/** Returns the fields that this task wrote; empty until it is written. */
export function writtenFields({ status, patch }: TaskView): z.infer<typeof fieldSchema>[] {
  if (status !== 'written' || !patch) return []
  return Object.entries(patch).map(([name, change]) => ({
    name,
    label: labelOf(name),
    value: 'set' in change ? String(change.set) : '',
  }))
}

/** Returns the fields for which nothing was bought, because they could not be written. */
export function leftOutOf({ closed }: TaskView): z.infer<typeof leftOutSchema> {
  return Object.entries(closed ?? {}).map(([name, why]) => ({
    name,
    label: labelOf(name),
    why,
    reason: closedWords[why],
  }))
}

const words: Record<string, string> = { url: 'URL', profnet: 'Profile', id: 'ID' }

/** Returns "Founded year" for `founded_year`. */
function labelOf(name: string): string {
  const text = name
    .split('_')
    .map((word) => words[word] ?? word)
    .join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
