import { statusOfEnd } from '../terminal/exit.ts'
import { createEventView } from '../terminal/event-view.ts'
import { summaryText } from '../terminal/print-summary.ts'
import { readConfig, stopSignal, withPaydirt } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

interface Options {
  out?: string
  force?: boolean
  json?: true
}

export async function applySavedPlan(id: string, { out, force = false, json }: Options): Promise<void> {
  const signal = stopSignal()
  const config = await readConfig()
  const listPlan = await withPaydirt(async (paydirt) => {
    const plan = await paydirt.readPlan(id)
    if (plan.kind === 'list') return plan
    const view = createEventView()
    const { end, summary, drifted, planId } = await paydirt
      .applyPlan(plan, { out, force, signal, onEvent: view.show })
      .finally(() => view.end())
    if (drifted > 0)
      printError(
        `paydirt: ${drifted === 1 ? '1 record has changed since the plan; it was skipped' : `${drifted} records have changed since the plan; they were skipped`}\n`,
      )
    if (json) print(`${JSON.stringify({ ...summary, planId, drifted })}\n`)
    else (out === '-' ? printError : print)(summaryText(summary, end, out))
    process.exitCode = statusOfEnd[end]
    return undefined
  }, config)
  if (listPlan)
    await (await import('../lists/apply-plan.ts')).applyListPlan(listPlan, config, signal, { json })
}
