import { championsNamed } from '../../app/champions/candidates.ts'
import type { JoinedEmployers } from '../../app/champions/join-employers.ts'
import { runChampions, type ChampionRun } from '../../app/champions/run-champions.ts'
import { chargesText } from '../../app/service/own-charges.ts'
import { formatUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import { budgetOf } from '../signals/run-budget.ts'
import { skippedLines } from '../signals/plan.ts'
import { runStatus } from '../signals/run-status.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print, printError } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'

interface RunOptions {
  budget?: string
  json?: true
}

export async function runNamedChampions(name: string, { budget, json }: RunOptions): Promise<void> {
  await withContext(
    async (context) => {
      const settings = championsNamed(context.config, name)
      const budgetAtomic = budgetOf(`champions.${name}`, settings.budgetUsd, budget)
      liveLine.show(`${name}: reading the people`)
      const run = await runChampions(context, name, {
        budgetAtomic,
        signal: stopSignal(),
        onProgress: ({ people, due, checked }) =>
          liveLine.show(`${name}: ${counted(people, 'person', 'people')}, ${checked} of ${due} looked up`),
        onNotice: (text) => printError(`paydirt: ${name}: ${text}\n`),
      })
      print(json ? `${JSON.stringify(documentOf(run))}\n` : runText(run))
      printError(`paydirt: ${name}: ${endText(run)}\n`)
      process.exitCode = runStatus(run)
    },
    undefined,
    { saysItself: true },
  )
}

function documentOf({ charges, committedAtomic, ...run }: ChampionRun) {
  return {
    ...run,
    committedUsd: formatUsd(committedAtomic),
    charges: charges.map(({ state, amountAtomic, currency }) => ({
      state,
      amount: formatUsd(amountAtomic),
      currency,
    })),
  }
}

function runText(run: ChampionRun): string {
  const { champions, people, due, checked, left, verdicts, records, joined, noted, problems } = run
  const found = Object.entries(verdicts).map(([verdict, count]) => `${count} ${verdict}`)
  const undo = [records?.runId ?? noted?.runId, ...(joined?.runIds ?? [])].filter((id) => id !== undefined)
  const lines = [
    `${champions}: ${counted(people, 'person', 'people')} with a profile`,
    ...skippedLines(run),
    `  looked up   ${checked} of ${due} who were due${left > 0 ? `, ${left} left for the next run` : ''}`,
    ...(found.length > 0 ? [`  found       ${found.join(', ')}`] : []),
    ...(records ? [`  records     ${records.written} written, ${records.unchanged} unchanged`] : []),
    ...(joined ? joinedLines(champions, joined) : []),
    ...(noted
      ? [
          `  notes       ${counted(noted.notes, 'note')}, ${counted(noted.tasks, 'task')}${noted.waiting > 0 ? `, ${noted.waiting} written by the next run` : ''}`,
        ]
      : []),
    ...[...problems, ...(noted?.problems ?? [])].map((problem) => `  problem     ${problem}`),
    ...undo.map((id) => `\`paydirt undo ${id}\` takes ${undo.length > 1 ? 'its part' : 'it'} back`),
  ]
  return `${lines.join('\n')}\n`
}

function joinedLines(champions: string, { made, there, unclear, left, waiting }: JoinedEmployers): string[] {
  return [
    `  new records ${made} made at new employers, ${there} there before`,
    ...(unclear > 0
      ? [
          `  unclear     ${counted(unclear, 'person', 'people')} who may be in the CRM: \`paydirt lists review champions/${champions}\` asks which record it is`,
        ]
      : []),
    ...Object.entries(left).map(([reason, count]) => `  left out    ${count}: ${reason}`),
    ...(waiting === undefined ? [] : [`  waiting     ${waiting}`]),
  ]
}

function endText({ end, reason, resumesAt, bought, charges }: ChampionRun): string {
  const why = end === 'complete' ? '' : `${end === 'interrupted' ? 'stopped' : (reason ?? end)}: `
  const from = resumesAt ? ` from ${utcMinute(resumesAt)}` : ''
  const goesOn = end === 'complete' || end === 'failed' ? '' : `; the same command goes on${from}`
  return `${why}${counted(bought, 'answer')} bought by this run, ${chargesText(charges)}${goesOn}`
}
