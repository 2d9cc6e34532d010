import { pipelineNamed } from '../../app/signals/accounts.ts'
import type { SignalRun } from '../../app/signals/run-signals.ts'
import { runPipeline, type PipelineRun } from '../../app/signals/writing/run-pipeline.ts'
import { chargesText } from '../../app/service/own-charges.ts'
import { formatUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import { budgetOf } from './run-budget.ts'
import { runStatus } from './run-status.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print, printError } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'
import { skippedLines } from './plan.ts'

interface RunOptions {
  budget?: string
  json?: true
}

export async function runNamedPipeline(name: string, { budget, json }: RunOptions): Promise<void> {
  await withContext(
    async (context) => {
      const settings = pipelineNamed(context.config, name)
      const budgetAtomic = budgetOf(`signals.${name}`, settings.budgetUsd, budget)
      const signal = stopSignal()
      liveLine.show(`${name}: reading the accounts`)
      const run = await runPipeline(context, name, {
        budgetAtomic,
        signal,
        onProgress: ({ accounts, due, checked }) =>
          liveLine.show(`${name}: ${counted(accounts, 'account')}, ${checked} of ${due} checks made`),
        onWriting: (records) => liveLine.show(`${name}: ${counted(records, 'record')} written or compared`),
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

function documentOf({ accounts, charges, committedAtomic, ...run }: PipelineRun) {
  return {
    ...run,
    accounts: accounts.length,
    committedUsd: formatUsd(committedAtomic),
    charges: charges.map(({ state, amountAtomic, currency }) => ({
      state,
      amount: formatUsd(amountAtomic),
      currency,
    })),
  }
}

function runText(run: PipelineRun): string {
  const { pipeline, accounts, due, checked, left, unmatched, problems } = run
  const lines = [
    `${pipeline}: ${counted(accounts.length, 'account')}`,
    ...skippedLines(run),
    ...(unmatched > 0
      ? [`  unknown     ${counted(unmatched, 'account')} that the service does not know`]
      : []),
    `  checks      ${due} due, ${checked} made${left > 0 ? `, ${left} left for the next run` : ''}`,
    ...recordLines(run),
    ...noteLines(run),
    ...problems.map((problem) => `  problem     ${problem}`),
  ]
  return `${lines.join('\n')}\n`
}

function recordLines({ records }: PipelineRun): string[] {
  if (!records) return []
  const { runId, written, unchanged, skipped, rejected, end } = records
  if (runId === undefined) return ['  records     nothing has changed, so nothing was written']
  const parts = [
    `${written} written`,
    `${unchanged} unchanged`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(rejected > 0 ? [`${rejected} rejected (\`paydirt runs ${runId}\` has the reasons)`] : []),
    ...(end === 'finished' ? [] : ['the rest is written by the next run']),
  ]
  return [`  records     ${parts.join(', ')}; \`paydirt undo ${runId}\` takes it back`]
}

function noteLines({ noted }: PipelineRun): string[] {
  if (!noted) return []
  const { runId, notes, tasks, waiting, left, problems } = noted
  const parts = [
    counted(notes, 'note'),
    counted(tasks, 'task'),
    ...(waiting > 0 ? [`${waiting} written by the next run`] : []),
    ...(left > 0 ? [`${left} not taken by the CRM`] : []),
  ]
  const undo = runId !== undefined && notes + tasks > 0 ? `; \`paydirt undo ${runId}\` takes them back` : ''
  return [
    `  notes       ${parts.join(', ')}${undo}`,
    ...problems.map((problem) => `  problem     ${problem}`),
  ]
}

function endText({ end, reason, resumesAt, bought, charges }: SignalRun): string {
  const why = end === 'complete' ? '' : `${end === 'interrupted' ? 'stopped' : (reason ?? end)}: `
  const from = resumesAt ? ` from ${utcMinute(resumesAt)}` : ''
  const goesOn = end === 'complete' || end === 'failed' ? '' : `; the same command goes on${from}`
  return `${why}${counted(bought, 'answer')} bought by this run, ${chargesText(charges)}${goesOn}`
}
