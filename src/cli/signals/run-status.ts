import type { SignalRun } from '../../app/signals/run-signals.ts'
import type { WrittenValues } from '../../app/writing/write-values.ts'
import { exitStatus } from '../terminal/exit.ts'

const statuses: Readonly<Record<SignalRun['end'], number>> = {
  complete: exitStatus.done,
  budget: exitStatus.parked,
  parked: exitStatus.parked,
  failed: exitStatus.failed,
  interrupted: exitStatus.interrupted,
}

/** Returns the exit status of a run. The records that wait for the CRM count like checks that wait for the budget. */
export function runStatus({
  end,
  records,
  joined,
}: {
  end: SignalRun['end']
  records: WrittenValues | undefined
  joined?: { waiting: string | undefined } | undefined
}): number {
  if (end === 'complete' && joined?.waiting !== undefined) return exitStatus.parked
  if (end !== 'complete' || !records || records.end === 'finished') return statuses[end]
  return records.end === 'interrupted' ? exitStatus.interrupted : exitStatus.parked
}
