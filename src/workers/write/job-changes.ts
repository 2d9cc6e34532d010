import type { CurrentRecord } from '../../domain/field-policy/current-record.ts'
import { jobChangeOf } from '../../domain/planning/job-change.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { TaskOutcome } from '../../store/writes/task-outcome.ts'
import type { ReadyTask } from '../../store/runs/ready-tasks.ts'

/**
 * Adds to each outcome whether the answers name another employer or title than the record did before the write. A job
 * change is reported even where the field policy kept the old value. The reason names the fields, never a value.
 */
export function withJobChanges(
  results: readonly TaskOutcome[],
  tasks: readonly ReadyTask[],
  current: ReadonlyMap<string, CurrentRecord>,
): TaskOutcome[] {
  const byId = new Map(tasks.map((task) => [task.id, task]))
  return results.map((result) => {
    const task = byId.get(result.id)
    const record = task && current.get(task.recordId)
    if (!task || record?.state !== 'present' || result.status === 'skipped') return result
    const jobChange = changedParts(task, record.values)
    if (jobChange.length === 0) return result
    const note = `job change: ${jobChange.join(' and ')}`
    return { ...result, jobChange, reason: result.reason === null ? note : `${result.reason}; ${note}` }
  })
}

function changedParts(
  { identity, patch }: ReadyTask,
  values: Readonly<Record<string, FieldValue>>,
): ('employer' | 'title')[] {
  const found = (field: string) => {
    const change = patch[field]
    return change && 'set' in change ? change.set : undefined
  }
  const change = jobChangeOf(
    { company_name: values['company_name'] ?? identity.company, job_title: values['job_title'] },
    { company_name: found('company_name'), job_title: found('job_title') },
  )?.jobChange
  return [
    ...(change?.employer ? (['employer'] as const) : []),
    ...(change?.title ? (['title'] as const) : []),
  ]
}
