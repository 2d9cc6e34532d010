import { counted } from '../../domain/values/counted.ts'
import type { RetentionReport } from '../upkeep/retention.ts'
import type { Finding } from './finding.ts'

const dayMs = 86_400_000

/** Says how long records, answers and the audit log are kept, what is due, and when something was erased last. */
export function retentionFindings({ rules, erasures }: RetentionReport, now: Date): Finding[] {
  const name = 'retention'
  const days = new Map(rules.map((rule) => [rule.group, rule.days]))
  const kept = [...days]
    .map(([group, limit]) => `${group} ${limit === null ? 'for ever' : counted(limit, 'day')}`)
    .join(', ')
  const due = rules.reduce((sum, rule) => sum + rule.due, 0)
  // A round each hour erases what is due: a day later nothing of it should be left.
  const late = rules.some(
    ({ due: rows, days: limit, oldest }) =>
      rows > 0 &&
      limit !== null &&
      oldest !== null &&
      now.getTime() - Date.parse(oldest) > (limit + 1) * dayMs,
  )
  const last = erasures[0]
  const message = `${kept}; ${counted(due, 'row')} due, ${last ? `erased last at ${last.at}` : 'nothing erased yet'}`
  return [
    late
      ? {
          name,
          status: 'warning',
          message,
          todo: '`paydirt start` erases each hour; `paydirt retention --now` does it at once',
        }
      : { name, status: 'ok', message },
  ]
}
