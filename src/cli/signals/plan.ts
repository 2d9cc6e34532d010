import { planSignals, type SignalPlan } from '../../app/signals/plan-signals.ts'
import { counted } from '../../domain/values/counted.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'

export async function planNamedPipeline(name: string, { json }: { json?: true }): Promise<void> {
  await withContext(async (context) => {
    const signal = stopSignal()
    liveLine.show(`${name}: reading the accounts`)
    const plan = await planSignals(context, name, { signal })
    print(json ? `${JSON.stringify(plan)}\n` : planText(plan))
  })
}

function planText(plan: SignalPlan): string {
  const { pipeline, accounts, due, requests, costAtMostUsd, month } = plan
  const types = Object.entries(due).map(([type, count]) => `${count} ${type}`)
  const period = (name: keyof SignalPlan['requests']) => {
    const { least, likely } = requests[name]
    const cost = costAtMostUsd[name]
    return likely === least
      ? `${counted(least, 'request')} at least, ${cost.least} USD at most for these`
      : `about ${counted(likely, 'request')} (at least ${least}), ${cost.likely} USD at most for these`
  }
  const lines = [
    `${pipeline}: ${counted(accounts, 'account')}`,
    ...skippedLines(plan),
    `  due now     ${types.length > 0 ? types.join(', ') : 'nothing'}`,
    `  first time  ${period('first')}`,
    `  a week      ${period('week')}`,
    `  a month     ${period('month')}`,
    `  this month  ${month.spentUsd} USD spent${month.capUsd === null ? '' : ` of ${month.capUsd}`}`,
    requests.first.likely === requests.first.least
      ? '  note        an answer has as many pages as it has rows: how many is known after the first ones'
      : '  note        pages are counted by what the accounts have had so far',
    'Nothing was bought or written.',
  ]
  return `${lines.join('\n')}\n`
}

const shown = 5

/** Returns the lines of accounts that are not watched, with their reasons. */
export function skippedLines({ skipped, suppressed }: Pick<SignalPlan, 'skipped' | 'suppressed'>): string[] {
  return [
    ...skipped.slice(0, shown).map(({ place, reason }) => `  skipped     ${place}: ${reason}`),
    ...(skipped.length > shown ? [`  skipped     and ${skipped.length - shown} more (--json)`] : []),
    ...(suppressed > 0 ? [`  suppressed  ${counted(suppressed, 'account')}`] : []),
  ]
}
