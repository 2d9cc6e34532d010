import { createAuditLog, type AuditedAction } from '../../store/access/audit.ts'
import type { Context } from './context.ts'

/** Notes an action from the command line in the audit log. The actor is not known: anyone with a shell can run it. */
export function noteFromCli(
  { database, now }: Pick<Context, 'database' | 'now'>,
  action: string,
  { target, details }: Pick<AuditedAction, 'target' | 'details'> = {},
): Promise<void> {
  const log = createAuditLog(database.db, { now })
  return log.record({ actor: 'cli', role: 'shell', action, target, details })
}
