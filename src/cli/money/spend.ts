import { stringify } from 'csv-stringify/sync'
import {
  isPending,
  leaveOrder,
  obeyOrders,
  orderSpending,
  type SpendOrder,
} from '../../app/money/spend-switch.ts'
import { errorCode } from '../../domain/error-codes.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { SpendGroup } from '../../store/views/spend.ts'
import { readConfig, withContext, withPaydirt } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'
import { bad, bold } from '../terminal/style.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

interface Options {
  by: SpendGroup
  json?: true
  csv?: true
  stop?: string | true
  resume?: true
}

export async function spend(options: Options): Promise<void> {
  const { stop } = options
  if (stop !== undefined) return giveOrder('stop', stop === true || stop.trim() === '' ? undefined : stop)
  if (options.resume) return giveOrder('resume')
  await show(options)
}

/** The ledger belongs, or may belong, to another process, which finds the order in the data directory. */
const ownedCodes: readonly string[] = [errorCode.dataDirInUse, errorCode.dataDirOwnerUnknown]

async function giveOrder(order: SpendOrder, reason?: string): Promise<void> {
  const done =
    order === 'stop' ? 'spending is stopped. `paydirt spend --resume` resumes it.' : 'spending is resumed.'
  try {
    await withContext(async (context) => {
      await obeyOrders(context)
      await orderSpending(context, order, reason)
    })
  } catch (error) {
    if (!(error instanceof ConfigError) || !ownedCodes.includes(error.code)) throw error
    const config = await readConfig()
    const name = await leaveOrder(config, order, reason)
    const deadlineMs = performance.now() + 5_000
    while (await isPending(config, name)) {
      if (performance.now() > deadlineMs) {
        print('the order was left for the process that uses this ledger; it has not obeyed it yet.\n')
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  print(`${done}\n`)
}

async function show(options: Options): Promise<void> {
  const { by, rows, refused, stopped, prices, lists } = await withPaydirt((paydirt) =>
    paydirt.spend({ by: options.by }),
  )
  if (options.json) {
    print(
      `${JSON.stringify({ by, rows, refused, stopped: stopped !== undefined, stop: stopped ?? null, prices, lists })}\n`,
    )
    return
  }
  if (options.csv) {
    print(stringify(rows, { header: true }))
    return
  }
  if (stopped)
    print(
      `${bad(`SPENDING IS STOPPED since ${utcMinute(stopped.since)}`)}${stopped.by === null ? '' : ` by ${stopped.by}`} (${stopped.reason}); ${stopped.isRestored ? '`paydirt reconcile` reads the chain and ends it' : '`paydirt spend --resume` resumes it'}.\n`,
    )
  if (rows.length === 0) print('nothing was spent yet\n')
  else
    print(
      table(
        [by === 'day' ? 'day (UTC)' : by, 'currency', 'charges', 'settled', 'in doubt', 'lost'],
        rows.map((row) => Object.values(row).map(String)),
      ),
    )
  if (lists.some(({ cap, spent }) => cap !== null || Number(spent) > 0))
    print(`\nlists in ${lists[0]?.month}:\n`)
  for (const { list, spent, cap } of lists)
    if (cap !== null || Number(spent) > 0)
      print(`  ${list}: ${spent} USD${cap === null ? '' : ` of ${cap}`}\n`)
  if (refused.length > 0) print(`\nrefused by the spending policy, nothing was signed:\n`)
  for (const { count, rule, message } of refused.slice(0, mostRefusals))
    print(`  ${count} × ${rule}: ${message}\n`)
  const more = refused.slice(mostRefusals).reduce((sum, { count }) => sum + count, 0)
  if (more > 0) print(`  and ${more} more, which \`paydirt spend --json\` lists\n`)
}

/** A service that asks another price each time would fill the screen. */
const mostRefusals = 20

/** Aligns the first column to the left and the others to the right. */
function table(header: string[], rows: string[][]): string {
  const widths = header.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .map((line, index) => `${index === 0 ? bold(line) : line}\n`)
    .join('')
}
