import { utcMinute } from '../../domain/values/utc-minute.ts'
import type { SpendingStop } from '../money/spend-report.ts'
import type { Finding } from './finding.ts'

/** Says whether spending is stopped, since when and by whom. */
export function spendingFinding(stop: SpendingStop | undefined): Finding {
  if (!stop) return { name: 'spending', status: 'ok', message: 'not stopped' }
  const by = stop.by === null ? '' : `, by ${stop.by === 'cli' ? 'the command line' : stop.by}`
  return {
    name: 'spending',
    status: 'warning',
    message: `stopped since ${utcMinute(stop.since)}${by}: ${stop.reason}. Nothing is bought`,
    todo: stop.isRestored
      ? '`paydirt reconcile` reads the chain, and parked work continues'
      : '`paydirt spend --resume` resumes it, and parked work continues',
  }
}
