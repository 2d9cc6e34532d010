import { applyPlan, readPlan, withinPlan } from '../../app/runs/apply-plan.ts'
import { openConnector } from '../../app/context/connectors.ts'
import { makeReady } from '../../app/runs/sync.ts'
import { assertWritableOutput } from '../../connectors/csv/index.ts'
import { statusOfEnd } from '../terminal/exit.ts'
import { summaryText } from '../terminal/print-summary.ts'
import { createProgressView } from '../terminal/progress.ts'
import { readConfig, stopSignal, withContext } from '../terminal/with-context.ts'
import { print, printError } from '../terminal/print.ts'

interface Options {
  out?: string
  force?: boolean
  json?: true
}

export async function applySavedPlan(id: string, { out, force = false, json }: Options): Promise<void> {
  const signal = stopSignal()
  const config = await readConfig()
  const plan = await withContext((context) => readPlan(context, id), config)
  if (plan.kind === 'list') {
    await (await import('../lists/apply-plan.ts')).applyListPlan(plan, config, signal, { json })
    return
  }
  if (plan.kind === 'csv' && out !== undefined) await assertWritableOutput(String(plan.job['path']), out)
  await withContext(
    async (context) => {
      const view = createProgressView({
        total: undefined,
        nowMs: () => performance.now(),
      })
      const applied = await applyPlan(context, plan, {
        out,
        force,
        signal,
        onProgress: (progress) => view.show(progress),
        onNotice: (text) => printError(`paydirt: ${text}\n`),
        async openConnector(wanted) {
          const connector = await openConnector(config, wanted, await context.openEngine())
          await makeReady(connector, [plan.entity])
          return connector
        },
      }).finally(() => view.end())
      const { end, summary, drifted, planId } = applied
      if (drifted > 0)
        printError(
          `paydirt: ${drifted === 1 ? '1 record has changed since the plan; it was skipped' : `${drifted} records have changed since the plan; they were skipped`}\n`,
        )
      if (json) print(`${JSON.stringify({ ...summary, planId, drifted })}\n`)
      else (out === '-' ? printError : print)(summaryText(summary, end, out))
      process.exitCode = statusOfEnd[end]
    },
    withinPlan(config, plan),
  )
}
