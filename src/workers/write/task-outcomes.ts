import type { LeftOut, WriteResult } from '../../connectors/connector.ts'
import type { WriteDecision } from '../../domain/field-policy/write-decision.ts'
import type { FieldChange, FieldValue, Patch } from '../../domain/record.ts'
import type { ReadyTask } from '../../store/runs/ready-tasks.ts'
import type { TaskOutcome } from '../../store/writes/task-outcome.ts'
import type { Refused } from './write-dropping-refused.ts'
import { refusalWords } from '../../domain/mapping/refusal-words.ts'

/** A task whose patch goes to the CRM. */
export interface Writing {
  task: ReadyTask
  decision: Extract<WriteDecision, { kind: 'write' }>
  /** The task's values as the record will show them. */
  standing: Readonly<Record<string, FieldValue>>
}

export function suppressedOutcome({ id }: ReadyTask): TaskOutcome {
  return { id, status: 'skipped', patch: null, reason: 'suppressed', written: [], unknown: [] }
}

export function rejectedOutcome({ id }: ReadyTask, reason: string): TaskOutcome {
  return { id, status: 'rejected', patch: null, reason, written: [], unknown: [] }
}

/**
 * Returns the outcome of a task for which nothing is sent: its record is gone, no field may be written, or an earlier
 * attempt wrote all of them. Empty for a task that is sent.
 */
export function outcomeWithoutWrite(task: ReadyTask, decision: WriteDecision): TaskOutcome[] {
  if (decision.kind === 'written') return [writtenOutcome(task, decision, Object.keys(decision.done), null)]
  if (decision.kind === 'write') return []
  const { status, unknown } = decision
  // Faults in the answers are reported even where nothing is written.
  const reason = [decision.reason, task.reason].filter((part) => part !== null).join('; ')
  return [{ id: task.id, status, patch: null, reason, written: [], unknown }]
}

export function outcomeOfWrite(
  { task, decision, standing }: Writing,
  result: Exclude<WriteResult, { status: 'retry' }>,
  lastSent: Patch,
  refused: readonly Refused[],
): TaskOutcome {
  const done = Object.keys(decision.done)
  const leftOut = result.status === 'written' ? (result.leftOut ?? []).map(unsent) : []
  const last = result.status === 'rejected' && result.field !== undefined ? [result as Refused] : []
  const out = [...refused, ...leftOut, ...last]
  // A value that was never sent is remembered only if it does not fit its field: missing rights or fields can be mended.
  const rejected = out.filter((each) => !each.unsent || !Object.hasOwn(standing, each.field))
  if (result.status === 'written') {
    const isOut = new Set(out.map(({ field }) => field))
    const sent = Object.keys(lastSent).filter((field) => !isOut.has(field))
    return { ...writtenOutcome(task, decision, [...done, ...sent], leftOutReason(out)), rejected }
  }
  const reason = out[0] ? refusal(out[0]) : reasonOf(result)
  // Fields that an earlier attempt wrote count as written, even when the rest is refused.
  if (done.length > 0) return { ...writtenOutcome(task, decision, done, reason), rejected }
  const { status } = result
  return { id: task.id, status, patch: null, reason, written: [], unknown: decision.unknown, rejected }
}

function unsent(leftOut: LeftOut): Refused {
  return { ...leftOut, unsent: true }
}

function writtenOutcome(
  task: ReadyTask,
  decision: Extract<WriteDecision, { kind: 'write' | 'written' }>,
  fields: string[],
  reason: string | null,
): TaskOutcome {
  const patch: Patch = {}
  for (const field of fields) patch[field] = (decision.patch[field] ?? decision.done[field]) as FieldChange
  return {
    id: task.id,
    status: 'written',
    patch,
    replaced: fields.filter((field) => decision.replaces.has(field)),
    reason: [task.reason, reason].filter((part) => part !== null).join('; ') || null,
    written: fields,
    unknown: decision.unknown,
  }
}

function reasonOf(result: WriteResult): string | null {
  if (result.status === 'rejected') return refusal(result)
  return 'reason' in result ? result.reason : null
}

function refusal({ field, code, reason }: { field?: string; code: string; reason: string }): string {
  return `${field === undefined ? '' : `${field}: `}${reason} (${code})`
}

function leftOutReason(leftOut: readonly LeftOut[]): string | null {
  if (leftOut.length === 0) return null
  // Codes and no reasons of the CRM, which may repeat the value.
  return `left out ${leftOut.map(({ field, code }) => `${field} (${refusalWords(code)})`).join(', ')}`
}
