import type { DeliveriesReport } from '../../app/monitors/deliveries-report.ts'
import { queryLedger } from '../../app/queries/query-ledger.ts'
import { counted } from '../../domain/values/counted.ts'
import { printable } from '../../domain/values/printable.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import { print } from '../terminal/print.ts'
import { readConfig } from '../terminal/with-context.ts'

/** Shows what became of the deliveries. Reads the ledger alone, and works beside the process that receives them. */
export async function showDeliveries({ json }: { json?: true }): Promise<void> {
  const report = await queryLedger(await readConfig(), 'monitorDeliveries', {})
  print(json ? `${JSON.stringify(report)}\n` : textOf(report))
}

function textOf({ monitors, others, unknownHeaders }: DeliveriesReport): string {
  const lines = monitors.flatMap(({ name, deliveries, log }) => [
    `${name}:`,
    ...(deliveries.length === 0 ? ['  nothing was delivered yet'] : deliveries.map(lineOf)),
    `  log: ${log.readAt === null ? 'not read yet' : `read ${utcMinute(new Date(log.readAt))}, ${counted(log.entries, 'entry', 'entries')}`}${log.problem === null ? '' : `; ${log.problem}`}`,
  ])
  for (const [monitor, counts] of Map.groupBy(others, (each) => each.monitor))
    lines.push(
      monitor === '' ? 'without a monitor:' : `${printable(monitor)} (not in the settings):`,
      ...counts.map(lineOf),
    )
  if (lines.length === 0) lines.push('no deliveries yet')
  if (unknownHeaders.length > 0)
    lines.push(`headers that nothing here reads (names alone are kept): ${unknownHeaders.join(', ')}`)
  return `${lines.join('\n')}\n`
}

interface Count {
  outcome: string
  timing: string
  deliveries: number
  repeats: number
}

function lineOf({ outcome, timing, deliveries, repeats }: Count): string {
  const words = [
    ...(timing === 'on_time' ? [] : [timing.replaceAll('_', ' ')]),
    ...(repeats === 0 ? [] : [`the same bytes came ${repeats === 1 ? 'once' : `${repeats} times`} more`]),
  ]
  return `  ${String(deliveries).padStart(6)} ${outcome.replaceAll('_', ' ')}${words.length === 0 ? '' : ` (${words.join('; ')})`}`
}
