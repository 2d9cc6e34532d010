import type { RunEnd } from '../../app/runs/run-to-end.ts'
import type { RunSummary } from '../../app/runs/summary.ts'
import { hasMissingOption, optionsHint } from '../../domain/planning/missing-option.ts'
import { leftOutLines } from '../../domain/planning/wanted-fields.ts'
import { counted } from '../../domain/values/counted.ts'
import { spentText } from './spent-text.ts'
import { bad, bold, good, warning } from './style.ts'

/** Returns the end of a run as text: the results, the cost, and what to do next. */
export function summaryText(summary: RunSummary, end: RunEnd, out: string | undefined): string {
  const { lookups, tasks, spend, withoutResult, requests } = summary
  const records =
    summary.object === 'company'
      ? counted(summary.records, 'company')
      : counted(summary.records, 'person', 'people')
  const lines = [
    bold(`run ${summary.runId}: ${records} (${summary.connector})`),
    row('written', tasks.written, good),
    row('unchanged', tasks.unchanged),
    row('skipped', tasks.skipped),
    row('rejected', tasks.rejected, bad),
    // Most of what a stopped run leaves waits for nothing but its next start.
    ...(tasks.parked > 0 ? [row(end === 'interrupted' ? 'not done' : 'parked', tasks.parked, warning)] : []),
    `lookups: ${lookups.unique} different, ${lookups.paid} paid, ${lookups.cached} from the ledger, ${counted(lookups.duplicates, 'duplicate row')}`,
    ...(withoutResult
      ? [`paid without a result: ${counted(withoutResult.lookups, 'lookup')}, ${amount(withoutResult)}`]
      : []),
    `spent: ${amount(spend)}${spend.lost === zero ? '' : `, ${spend.lost} lost`}${spend.inDoubt === zero ? '' : `, ${spend.inDoubt} in doubt`} (${counted(requests.sent, 'request')}, ${requests.rateLimited} rate-limited)`,
    ...(spend.lost === zero ? [] : [`  ${lostMeaning}`]),
    ...(spend.inDoubt === zero ? [] : [`  ${inDoubtMeaning(end)}`]),
    ...leftOutLines(summary.leftOut ?? [], summary.connector),
    ...(summary.reasons ?? [])
      .filter(({ status, reason }) => status !== 'unchanged' || reason.includes('left out'))
      .map(
        ({ status, reason, count, first }) =>
          `  ${count} ${status}: ${reason}${summary.connector === 'csv' && first !== undefined ? ` (${count === 1 ? '' : 'first in '}line ${first})` : ''}`,
      ),
  ]
  if (hasMissingOption(summary.reasons ?? [])) lines.push(`  ${optionsHint(summary.connector)}`)
  if (end === 'interrupted')
    lines.push(
      warning(
        `stopped. Nothing is lost: ${lookups.paid > 0 ? `${counted(lookups.paid, 'paid answer is', 'paid answers are')} kept, and the same command goes on with them` : 'run the same command to continue'}.`,
      ),
    )
  else if (out !== undefined && out !== '-') lines.push(`output: ${out}`)
  if (end === 'parked')
    lines.push(warning('some work is parked for the reasons above; run the same command to continue it.'))
  return `${lines.join('\n')}\n`
}

const zero = '0.000000'

/** Says what money is called lost, and how not to lose more. */
export const lostMeaning =
  'lost: paid, but a process ended before the answer came, and the service keeps no answers by payment id. End runs with Ctrl-C; `payment.rebuyLost: false` parks such a lookup in place of buying it again'

/** Says what money is called in doubt, and what ends the doubt. A stop under a rate limit leaves some of it. */
function inDoubtMeaning(end: RunEnd): string {
  const again =
    end === 'finished' ? '' : 'The same command asks again, with the same payment while that is valid. '
  return `in doubt: promised, but the service refused the request (as too many, say), failed or did not answer. ${again}\`paydirt reconcile\` says what became of a payment once it has expired, and shows what needs a person`
}

function amount({ settled, credits }: { settled: string; credits?: string | undefined }): string {
  return spentText(settled, credits)
}

function row(name: string, count: number, style = (text: string) => text): string {
  const text = `  ${name.padEnd(10)}${String(count).padStart(7)}`
  return count > 0 ? style(text) : text
}
