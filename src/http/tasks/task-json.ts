import { z } from 'zod'
import { formatUsd } from '../../domain/money.ts'
import { objectKinds, taskStatuses } from '../../domain/words.ts'
import type { TaskView } from '../../store/runs/task-view.ts'
import type { TaskIds } from './task-ids.ts'
import { isOpen } from './task-watch.ts'

export const statusSchema = z
  .enum(taskStatuses)
  .describe(
    'queued, looking_up and ready are in progress; a parked task resumes by itself or needs attention',
  )

export const fieldSchema = z.object({ name: z.string(), label: z.string(), value: z.string() })

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

const words: Record<string, string> = { url: 'URL', profnet: 'Profile', id: 'ID' }

/** Returns "Founded year" for `founded_year`. */
function labelOf(name: string): string {
  const text = name
    .split('_')
    .map((word) => words[word] ?? word)
    .join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
