import type { RunEnd } from '../../app/runs/run-to-end.ts'
import type { RunSummary } from '../../app/runs/summary.ts'
import { leftOutText } from '../../domain/planning/wanted-fields.ts'

/** Returns the end of a run as text: the results, the cost, and what to do next. */
export function summaryText(summary: RunSummary, end: RunEnd, out: string | undefined): string {
  const { lookups, tasks, spend, requests } = summary
  const lines = [
    `run ${summary.runId}: ${summary.records} ${summary.object === 'company' ? 'companies' : 'people'} (${summary.connector})`,
    row('written', tasks.written),
    row('unchanged', tasks.unchanged, `${lookups.notFound} profiles not found`),
    row('skipped', tasks.skipped),
    row('rejected', tasks.rejected),
    ...(tasks.parked > 0 ? [row('parked', tasks.parked)] : []),
    `lookups: ${lookups.unique} different, ${lookups.paid} paid, ${lookups.cached} from the ledger, ${lookups.duplicates} duplicate rows`,
    `spent: ${spend.credits ? `${spend.credits} credits` : `${spend.settled} USD`}${spend.lost === zero ? '' : `, ${spend.lost} lost`}${spend.inDoubt === zero ? '' : `, ${spend.inDoubt} in doubt`} (${requests.sent} requests, ${requests.rateLimited} rate-limited)`,
    ...(summary.leftOut
      ? [`not bought, because it could not be written: ${leftOutText(summary.leftOut)}`]
      : []),
    ...(summary.reasons ?? [])
      .filter(({ status, reason }) => status !== 'unchanged' || reason.includes('left out'))
      .map(
        ({ status, reason, count, first }) =>
          `  ${count} ${status}: ${reason}${summary.connector === 'csv' && first !== undefined ? ` (${count === 1 ? '' : 'first in '}line ${first})` : ''}`,
      ),
  ]
  if (end === 'interrupted') lines.push('stopped. Nothing is lost: run the same command to continue.')
  else if (out !== undefined && out !== '-') lines.push(`output: ${out}`)
  if (end === 'parked')
    lines.push('some work is parked for the reasons above; run the same command to continue it.')
  return `${lines.join('\n')}\n`
}

const zero = '0.000000'

function row(name: string, count: number, note = ''): string {
  return `  ${name.padEnd(10)}${String(count).padStart(7)}${note === '' || count === 0 ? '' : `   (${note})`}`
}
