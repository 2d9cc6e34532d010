import { counted } from '../../../domain/values/counted.ts'
import { utcDay } from '../../../domain/signals/change.ts'
import { typeNames } from '../../../domain/signals/reason.ts'
import {
  nameOf,
  type Evidence,
  type ReportedAccount,
  type ReportedName,
} from '../../../domain/signals/report.ts'
import { pointsText } from '../../../domain/signals/score.ts'
import type { PipelineReport, ReportedCost, SignalsReport } from './signals-report.ts'

/** Returns the report as plain text, with so many accounts of each kind at most. */
export function reportText({ madeAt, since, owner, pipelines }: SignalsReport, mostAccounts: number): string {
  const period = `since ${since}, until ${utcDay(madeAt)} (UTC)${owner ? `, accounts of ${owner.name}` : ''}`
  if (pipelines.length === 0) return 'the config has no pipeline under `signals`\n'
  return pipelines.map((each) => `${pipelineText(each, period, mostAccounts).join('\n')}\n`).join('\n')
}

function pipelineText(
  { pipeline, scoredOn, watched, moved, added, gone, cost }: PipelineReport,
  period: string,
  most: number,
): string[] {
  if (scoredOn === null)
    return [`${pipeline}: no scores yet; \`paydirt signals run ${pipeline}\` computes them`]
  return [
    `${pipeline}, ${period}: ${counted(moved.length, 'account')} of ${watched} moved; scores of ${scoredOn}`,
    ...moved.slice(0, most).flatMap(accountText),
    ...more(moved.length - most),
    ...namesText('new', added, most),
    ...namesText('gone', gone, most),
    `  paid in the period: ${costText(cost)}`,
  ]
}

function accountText(account: ReportedAccount): string[] {
  const { hundredths, moves, evidence } = account
  return [
    `  ${accountName(account)}  ${pointsText(hundredths)} (${changeText(account)})`,
    ...moves.map(({ day, from, to }) => `      stage: ${from} → ${to}, seen ${day}`),
    ...evidence.map((each) => `      ${evidenceText(each)}`),
  ]
}

/** Returns the change of a score with its sign; of an account without an earlier score that it is new. */
export function changeText({ changeHundredths: change }: Pick<ReportedAccount, 'changeHundredths'>): string {
  if (change === null) return 'no earlier score'
  return `${change > 0 ? '+' : change < 0 ? '' : '±'}${pointsText(change)}`
}

/** Returns when a signal happened, or else that it was seen first then. In UTC. */
export function evidenceDay({ at, isSeenFirst }: Pick<Evidence, 'at' | 'isSeenFirst'>): string {
  return `${isSeenFirst ? 'seen first ' : ''}${utcDay(at)}`
}

function evidenceText(evidence: Evidence): string {
  const { type, title, link, hundredths, isNew } = evidence
  const parts = [
    `${typeNames[type]}: ${title ?? '(no title)'}`,
    evidenceDay(evidence),
    `${pointsText(hundredths)} ${Math.abs(hundredths) === 100 ? 'point' : 'points'}${isNew ? ', new' : ''}`,
    ...(link === null ? [] : [link]),
  ]
  return parts.join(' · ')
}

function namesText(word: string, accounts: readonly ReportedName[], most: number): string[] {
  if (accounts.length === 0) return []
  return [
    `  ${word}: ${counted(accounts.length, 'account')}`,
    ...accounts.slice(0, most).map((account) => `      ${accountName(account)}`),
    ...more(accounts.length - most),
  ]
}

function more(count: number): string[] {
  return count > 0 ? [`      and ${count} more, which --html, --csv and --json have`] : []
}

function accountName(account: ReportedName): string {
  return account.name === null ? nameOf(account) : `${account.name} (${nameOf(account)})`
}

/** Returns what was paid: of each currency on its own. */
export function costText(cost: readonly ReportedCost[]): string {
  if (cost.length === 0) return 'nothing'
  return cost
    .map(({ currency, charges, settled, inDoubt, lost }) => {
      const unit = currency === 'USD' ? 'USD' : 'credits'
      const rest = [
        ...(Number(inDoubt) > 0 ? [`${inDoubt} in doubt`] : []),
        ...(Number(lost) > 0 ? [`${lost} lost`] : []),
      ]
      return `${settled} ${unit} for ${counted(charges, 'charge')}${rest.map((part) => `, ${part}`).join('')}`
    })
    .join('; ')
}
