import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { noteFromCli } from '../context/audit-from-cli.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { errorCode } from '../../domain/error-codes.ts'

export type SpendOrder = 'stop' | 'resume'

export async function setSpending(
  context: Pick<Context, 'spendSwitch' | 'lookups'>,
  order: SpendOrder,
): Promise<void> {
  if (order === 'stop') return context.spendSwitch.stop('paydirt spend --stop')
  await context.spendSwitch.resume()
  await context.lookups.unparkBy([errorCode.stopped])
}

/** Stops or resumes spending from the command line, and notes it in the audit log. */
export async function orderSpending(
  context: Pick<Context, 'database' | 'now' | 'spendSwitch' | 'lookups'>,
  order: SpendOrder,
): Promise<void> {
  // The stop comes before its note: an audit log that cannot be written must not prevent it.
  if (order === 'stop') await setSpending(context, order)
  await noteFromCli(context, `spending.${order}`)
  if (order === 'resume') await setSpending(context, order)
}

/**
 * Leaves an order as a file in the data directory, because one process at a time can open the embedded database. The process
 * that has it open looks for the file twice a second. If no process has, the next one obeys the order first.
 */
export async function leaveOrder(config: Config, order: SpendOrder): Promise<void> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  await writeFile(orderFile(config), order, { mode: 0o600 })
}

/** Obeys an order that another process left. One loop a process calls it (runs/maintenance.ts), so that it is noted once. */
export async function obeyOrder(
  context: Pick<Context, 'config' | 'database' | 'now' | 'spendSwitch' | 'lookups'>,
): Promise<void> {
  if (context.database.kind !== 'pglite') return
  const order = await readFile(orderFile(context.config), 'utf8').catch(() => undefined)
  if (order !== 'stop' && order !== 'resume') return
  await orderSpending(context, order)
  await rm(orderFile(context.config), { force: true })
}

export async function hasPendingOrder(config: Config): Promise<boolean> {
  return (await readFile(orderFile(config), 'utf8').catch(() => undefined)) !== undefined
}

function orderFile(config: Config): string {
  return join(config.dataDir, 'spend-order')
}
