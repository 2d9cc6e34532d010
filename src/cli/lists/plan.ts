import { listCalls } from '../../app/lists/pages/list-calls.ts'
import { planList } from '../../app/lists/making/plan-list.ts'
import { openConnector } from '../../app/context/connectors.ts'
import { newPlanId } from '../../app/context/new-id.ts'
import { print } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'
import { showExcluding } from './excluding.ts'
import { planText } from './plan-text.ts'

export async function planRecords(name: string, { json }: { json?: true }): Promise<void> {
  await withContext(async (context) => {
    const calls = await listCalls(context, name, { asks: false })
    const connector = await openConnector(context.config, calls.settings.into.connector, context)
    try {
      const excluding = showExcluding(name)
      const plan = await planList(context, calls, connector, newPlanId(context), {
        signal: stopSignal(),
        onExcluding: excluding.onExcluding,
      }).finally(excluding.end)
      print(json ? `${JSON.stringify(plan)}\n` : planText(plan))
    } finally {
      await connector.close()
    }
  })
}
