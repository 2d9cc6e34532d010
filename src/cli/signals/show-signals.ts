import { pipelineBudget } from '../../app/config/watching/purses.ts'
import { listMonth } from '../../app/money/list-months.ts'
import { formatUsd } from '../../domain/money.ts'
import { counted } from '../../domain/values/counted.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import { pipelineFigures } from '../../store/signals/figures.ts'
import { print } from '../terminal/print.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'

/** Shows every pipeline as far as the ledger has it. Pays nothing, and asks no CRM. */
export async function showSignals({ json }: { json?: true }): Promise<void> {
  const { signals } = await readConfig()
  if (Object.keys(signals).length === 0) {
    print(
      json
        ? '[]\n'
        : 'nothing is watched: name a pipeline under signals in paydirt.config.ts (docs/signals.md)\n',
    )
    return
  }
  await withContext(async (context) => {
    const figures = new Map((await pipelineFigures(context.database.db)).map((each) => [each.pipeline, each]))
    const documents = []
    for (const pipeline of Object.keys(signals)) {
      const {
        accounts = 0,
        unmatched = 0,
        signals: kept = 0,
        lastCheckAt = null,
      } = figures.get(pipeline) ?? {}
      const { spentAtomic, capAtomic } = await listMonth(context, pipelineBudget(pipeline))
      const month = {
        spentUsd: formatUsd(spentAtomic),
        capUsd: capAtomic === undefined ? null : formatUsd(capAtomic),
      }
      documents.push({ pipeline, accounts, unmatched, signals: kept, lastCheckAt, month })
      if (json) continue
      const lines = [
        `${pipeline}: ${counted(accounts, 'account')} checked, ${counted(kept, 'signal')}`,
        ...(unmatched > 0
          ? [`  unknown     ${counted(unmatched, 'account')} that the service does not know`]
          : []),
        `  last check  ${lastCheckAt === null ? 'never' : utcMinute(lastCheckAt)}`,
        `  this month  ${month.spentUsd} USD${month.capUsd === null ? '' : ` of ${month.capUsd}`}`,
      ]
      print(`${lines.join('\n')}\n`)
    }
    if (json) print(`${JSON.stringify(documents)}\n`)
  })
}
