import type { RunDetail } from '../../app/runs/run-detail.ts'
import { lostMeaning } from '../terminal/print-summary.ts'
import { spentText } from '../terminal/spent-text.ts'
import { isAboveZero } from '../../domain/money.ts'
import { leftOutLines } from '../../domain/planning/wanted-fields.ts'
import { counted } from '../../domain/values/counted.ts'
import { undoneAmount, undoneWord } from '../../domain/values/undone-text.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

/** Returns one run for a person: where it comes from, how far it is, what it cost, why records were not written, what to do. */
export function runText(run: RunDetail): string {
  const { lookups, requests, reasons = [], leftOut, next } = run
  const lines = [
    `run ${run.runId}: ${run.state}${run.undone ? `, ${undoneWord(run.undone)}` : ''}${run.stateReason === null ? '' : `, because ${run.stateReason}`}`,
    fact('source', sourceOf(run)),
    fact('recipe', run.recipe),
    fact('started', `${utcMinute(run.startedAt)}, by ${beginning(run)}`),
    ...(run.finishedAt ? [fact('ended', endOf(run.startedAt, run.finishedAt))] : []),
    ...(run.undone ? [fact('undone', `${undoneAmount(run.undone)}, ${utcMinute(run.undone.at)}`)] : []),
    '',
    ...funnelLines(run),
    '',
    `lookups: ${lookups.unique} different, ${lookups.paid} paid, ${lookups.cached} from the ledger, ${lookups.notFound} not found, ${lookups.duplicates} for more than one record`,
    `spent: ${spendOf(run)} (${counted(requests.sent, 'request')}, ${requests.rateLimited} rate-limited)`,
    ...(Number(run.spend.lost) > 0 ? [`  ${lostMeaning}`] : []),
    ...leftOutLines(leftOut ?? [], run.connector),
    ...section(
      'why:',
      reasons.map(
        ({ status, reason, count, first }) =>
          `${count} ${status}: ${reason}${first === undefined ? '' : ` (${count === 1 ? '' : 'first '}${placeOf(run, first)})`}`,
      ),
    ),
    ...section('next:', next),
  ]
  return `${lines.join('\n')}\n`
}

function sourceOf({ connector, entity, file, path, records, scanned }: RunDetail): string {
  const source = file === null ? `${connector} ${entity}` : `${path ?? file}, ${entity}`
  return `${source}, ${counted(records, 'record')}${scanned ? '' : ' so far'}`
}

function beginning({ trigger, schedule }: RunDetail): string {
  if (schedule !== null) return `schedule ${schedule}`
  const words: Record<string, string> = {
    csv: 'paydirt csv',
    list: 'paydirt apply, for a list',
    sync: 'paydirt sync',
    apply: 'paydirt apply',
    request: 'a person at the desk',
    signals: 'paydirt signals run',
  }
  return words[trigger] ?? trigger
}

function funnelLines({ funnel, tasks, state, made }: RunDetail): string[] {
  const { unchanged, skipped, rejected, parked } = tasks
  if (made) return madeLines(made, tasks)
  const isOpen = state === 'scanning' || state === 'working'
  return [
    step('read', funnel.read),
    step('looked up', funnel.lookedUp),
    step('matched', funnel.matched),
    step('written', funnel.written, funnel.changed > 0 ? `${funnel.changed} with a changed value` : ''),
    ...(unchanged > 0 ? [step('unchanged', unchanged)] : []),
    ...(skipped > 0 ? [step('skipped', skipped)] : []),
    ...(rejected > 0 ? [step('rejected', rejected)] : []),
    ...(parked > 0 ? [step(isOpen ? 'open' : 'parked', parked)] : []),
  ]
}

/** The rows of a list are not read, looked up and written: their records are made, or are there already. */
function madeLines(
  { created, exists, ambiguous }: NonNullable<RunDetail['made']>,
  { rejected, skipped, parked }: RunDetail['tasks'],
): string[] {
  return [
    step('created', created),
    step('existed', exists),
    ...(ambiguous > 0 ? [step('ambiguous', ambiguous)] : []),
    ...(skipped > ambiguous ? [step('left out', skipped - ambiguous)] : []),
    ...(rejected > 0 ? [step('rejected', rejected)] : []),
    ...(parked > 0 ? [step('parked', parked)] : []),
  ]
}

function spendOf({ spend }: RunDetail): string {
  const parts = [
    spentText(spend.settled, spend.credits),
    ...(isAboveZero(spend.lost) ? [`${spend.lost} lost`] : []),
    ...(isAboveZero(spend.inDoubt) ? [`${spend.inDoubt} in doubt`] : []),
  ]
  return parts.join(', ')
}

/** A line of the file, or the name of a record for `paydirt history`. */
function placeOf({ file, connector, entity }: RunDetail, id: string): string {
  return file === null ? `${connector}:${entity}:${id}` : `line ${id}`
}

function endOf(startedAt: Date, finishedAt: Date): string {
  const seconds = Math.round((finishedAt.getTime() - startedAt.getTime()) / 1000)
  const took = seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
  return `${utcMinute(finishedAt)} (${took})`
}

function fact(name: string, value: string): string {
  return `  ${name.padEnd(9)} ${value}`
}

function step(name: string, count: number, note = ''): string {
  return `  ${name.padEnd(9)} ${String(count).padStart(7)}${note === '' ? '' : `   (${note})`}`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)]
}
