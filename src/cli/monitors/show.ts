import type { Command } from 'commander'
import { monitorId, readNow } from '../../app/monitors/one-monitor.ts'
import { readMonitors } from '../../app/monitors/compare-monitors.ts'
import { nameByMark } from '../../domain/monitors/declared.ts'
import { printable } from '../../domain/values/printable.ts'
import type { Operation } from '../../domain/words.ts'
import { knownMonitors } from '../../store/monitors/declared-monitors.ts'
import { print } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'

export async function listMonitors({ json }: { json?: true }): Promise<void> {
  await withContext(
    async (context) => {
      const known = new Map(
        (await knownMonitors(context.database.db)).map((each) => [each.monitorId, each.name]),
      )
      const monitors = (await readMonitors(context, stopSignal())).map(({ id, fields }) => ({
        id,
        declaredAs: known.get(id) ?? nameByMark(fields['name']) ?? null,
        name: fields['name'] ?? null,
        status: fields['status'] ?? null,
        detection_mode: fields['detection_mode'] ?? null,
        signal_types: fields['signal_types'] ?? null,
      }))
      if (json) return print(`${JSON.stringify(monitors)}\n`)
      if (monitors.length === 0) return print('the workspace has no monitors\n')
      for (const { id, declaredAs, name, status, detection_mode: mode } of monitors)
        print(
          `${id}  ${String(status).padEnd(8)} ${String(mode).padEnd(14)} ${printable(String(name))}${declaredAs === null ? '  (not ours)' : ''}\n`,
        )
    },
    undefined,
    { saysItself: true },
  )
}

const operations: Readonly<Record<string, Operation>> = {
  show: 'monitor.read',
  stats: 'monitor.statistics',
  charts: 'monitor.charts',
  logs: 'monitor.logs',
}

/** Prints one reading of a monitor. Its command's name says which. */
export async function showMonitor(monitor: string, _: { json?: true }, command: Command): Promise<void> {
  await withContext(
    async (context) => {
      const operation = operations[command.name()] ?? 'monitor.read'
      const id = await monitorId(context, monitor)
      print(
        `${JSON.stringify(await readNow(context, operation, { monitor_id: id }, stopSignal()), null, 2)}\n`,
      )
    },
    undefined,
    { saysItself: true },
  )
}
