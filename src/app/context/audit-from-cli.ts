import { createAuditLog, type AuditedAction } from '../../store/access/audit.ts'
import type { Context } from './context.ts'

/** Notes what somebody did from the command line. Who that was, the ledger does not know: whoever has a shell may do it. */
export function noteFromCli(
  { database, now }: Pick<Context, 'database' | 'now'>,
  action: string,
  { target, details }: Pick<AuditedAction, 'target' | 'details'> = {},
): Promise<void> {
  const log = createAuditLog(database.db, { now })
  return log.record({ actor: 'cli', role: 'shell', action, target, details })
}
