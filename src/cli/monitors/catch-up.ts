import { catchUp, type CaughtUp } from '../../app/monitors/catch-up.ts'
import { counted } from '../../domain/values/counted.ts'
import { exitStatus } from '../terminal/exit.ts'
import { print } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'

/** Reads the logs of all monitors of the settings now. */
export async function catchUpMonitors({ plan, json }: { plan: boolean; json?: true }): Promise<void> {
  await withContext(
    async (context) => {
      const results = await catchUp(context, { signal: stopSignal(), isPlan: plan, isForced: true })
      if (json) print(`${JSON.stringify(results)}\n`)
      else if (results.length === 0) print('no monitor of the settings is at the service\n')
      else for (const result of results) print(lineOf(result, plan))
      if (results.some(({ problem }) => problem !== null)) process.exitCode = exitStatus.failed
    },
    undefined,
    { saysItself: true },
  )
}

function lineOf({ monitor, entries, missing, test, noCompany, problem }: CaughtUp, isPlan: boolean): string {
  const parts = [
    `${counted(entries, 'new entry', 'new entries')} in its log`,
    missing === 0
      ? 'none is missing here'
      : `${missing} ${missing === 1 ? 'is' : 'are'} missing here${isPlan ? '' : ' and worked by `paydirt start`'}`,
    ...(test > 0 ? [counted(test, 'test')] : []),
    ...(noCompany > 0 ? [`${noCompany} without a company`] : []),
    ...(problem === null ? [] : [`not read to the end: ${problem}`]),
  ]
  return `${monitor}: ${parts.join('; ')}\n`
}
