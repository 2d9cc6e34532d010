import { applyList } from '../../app/lists/making/apply-list.ts'
import type { Config } from '../../app/config/config.ts'
import { openConnector } from '../../app/context/connectors.ts'
import type { Plan } from '../../store/plans/plans.ts'
import { statusOfEnd } from '../terminal/exit.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print, printError } from '../terminal/print.ts'
import { withContext } from '../terminal/with-context.ts'
import { appliedText } from './plan-text.ts'

/** Makes the records of a list's plan. */
export async function applyListPlan(
  plan: Plan,
  config: Config,
  signal: AbortSignal,
  { json }: { json?: true | undefined },
): Promise<void> {
  await withContext(async (context) => {
    const connector = await openConnector(config, plan.connector, context)
    try {
      const applied = await applyList(context, plan, {
        connector,
        signal,
        onLookups: ({ counts, records }) =>
          liveLine.show(`${records - counts.looking_up - counts.queued} of ${records} rows looked up`),
        onNotice: (text) => printError(`paydirt: ${text}\n`),
        onProgress: (done, total) => liveLine.show(`${done} of ${total} rows`),
      }).finally(() => liveLine.end())
      print(json ? `${JSON.stringify(applied)}\n` : appliedText(applied))
      process.exitCode = statusOfEnd[applied.end]
    } finally {
      await connector.close()
    }
  }, config)
}
