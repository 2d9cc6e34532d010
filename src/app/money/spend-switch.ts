import { randomUUID } from 'node:crypto'
import { access, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { noteFromCli } from '../context/audit-from-cli.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { errorCode } from '../../domain/error-codes.ts'

export type SpendOrder = 'stop' | 'resume'

export async function setSpending(
  context: Pick<Context, 'spendSwitch' | 'lookups'>,
  order: SpendOrder,
  reason = 'paydirt spend --stop',
): Promise<void> {
  if (order === 'stop') return context.spendSwitch.stop(reason)
  await context.spendSwitch.resume()
  await context.lookups.unparkBy([errorCode.stopped])
}

/** Stops or resumes spending from the command line, and notes it in the audit log. */
export async function orderSpending(
  context: Pick<Context, 'database' | 'now' | 'spendSwitch' | 'lookups'>,
  order: SpendOrder,
  reason?: string,
): Promise<void> {
  // The stop comes before its note: an audit log that cannot be written must not prevent it.
  if (order === 'stop') await setSpending(context, order, reason)
  await noteFromCli(context, `spending.${order}`)
  if (order === 'resume') await setSpending(context, order)
}

/**
 * Leaves an order as a file in the data directory, because one process at a time can open the embedded database. The process
 * that has it open looks for such files twice a second. If no process has, the next one obeys the orders first. Each order is
 * a file of its own, so that none is lost that arrives while another one is obeyed. Its reason is another file, written first: a
 * process of the version before obeys the order and leaves that one. Returns its name.
 */
export async function leaveOrder(config: Config, order: SpendOrder, reason?: string): Promise<string> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  // In the order of time; of two in one millisecond the order to stop comes last, and holds.
  const name = `${prefix}${Date.now().toString().padStart(15, '0')}-${order}-${randomUUID()}`
  // A reason that cannot be written must not prevent the stop.
  if (reason !== undefined)
    await writeFile(join(config.dataDir, reasonOf(name)), reason, { mode: 0o600 }).catch(() => {})
  const draft = join(config.dataDir, `draft-${name}`)
  await writeFile(draft, order, { mode: 0o600 })
  await rename(draft, join(config.dataDir, name))
  return name
}

/**
 * Obeys the orders that other processes left, oldest first. One loop a process calls it (upkeep/maintenance.ts), so that each
 * is noted once. Crash window: an order that was obeyed and whose file is still there is obeyed again at the next start,
 * before any later order.
 */
export async function obeyOrders(
  context: Pick<Context, 'config' | 'database' | 'now' | 'spendSwitch' | 'lookups'>,
): Promise<void> {
  if (context.database.kind !== 'pglite') return
  const { dataDir } = context.config
  const names = await readdir(dataDir).catch(() => [])
  for (const name of names.filter((each) => each.startsWith(prefix)).sort()) {
    const order = await readFile(join(dataDir, name), 'utf8').catch(() => undefined)
    const reason = await readFile(join(dataDir, reasonOf(name)), 'utf8').catch(() => undefined)
    if (order === 'stop' || order === 'resume') await orderSpending(context, order, reason)
    for (const file of [name, reasonOf(name)]) await rm(join(dataDir, file), { force: true })
  }
}

export async function isPending(config: Config, name: string): Promise<boolean> {
  return access(join(config.dataDir, name)).then(
    () => true,
    () => false,
  )
}

const prefix = 'spend-order-'

const reasonOf = (name: string) => `reason-of-${name}`
