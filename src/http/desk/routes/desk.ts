import type { Context, MiddlewareHandler } from 'hono'
import type { SpendSwitch } from '../../../store/ledger/spend-switch.ts'
import type { AuditLog } from '../../../store/access/audit.ts'
import type { Database } from '../../../store/database/database.ts'
import type { DeskRole, SessionLedger } from '../../../store/access/sessions.ts'
import type { DeskAccess } from '../access/access.ts'
import type { DeskEnv } from '../access/gate.ts'
import type { DeskCaps } from '../model/budgets.ts'
import type { DeskPorts } from '../model/ports.ts'
import type { BoardBar } from './queue-board.ts'
import type { Page, Shell } from '../view/layout.ts'

export interface DeskOptions {
  db: Database
  now: () => Date
  access: DeskAccess
  sessions: SessionLedger
  audit: AuditLog
  spendSwitch: Pick<SpendSwitch, 'isStopped'>
  caps: DeskCaps
  ports: DeskPorts
  /** What bull-board shows, for whoever may act and for whoever may look; absent: there is no such page. */
  board?: ((mayAct: boolean, bar: BoardBar) => MiddlewareHandler) | undefined
  /** For a page. Default 30 s. What changes something has as long as it takes. */
  timeoutMs?: number | undefined
  /** Fires when the server stops: open streams end. */
  signal: AbortSignal
  onError: (error: unknown) => void
  /** Counts what was turned away, by its kind. */
  onDenied?: ((kind: string) => void) | undefined
}

/** What the desk's routes share. */
export interface Desk extends DeskOptions {
  asset: (name: string) => string
  shell(context: Context<DeskEnv>): Promise<Shell>
  show(context: Context<DeskEnv>, page: Page, status?: 200 | 400 | 404 | 409): Promise<Response>
  requires(role: DeskRole): MiddlewareHandler<DeskEnv>
  /** Before whatever changes something: the role, and a form that was ours. */
  allowsChange(role: DeskRole): [MiddlewareHandler<DeskEnv>, MiddlewareHandler<DeskEnv>]
  /** Notes who did what, on what. */
  recordAction(
    context: Context<DeskEnv>,
    action: string,
    target?: string,
    details?: Record<string, string | number | boolean | null>,
  ): Promise<void>
}

export async function shellOf(
  desk: Pick<Desk, 'now' | 'spendSwitch' | 'asset'>,
  context: Context<DeskEnv>,
): Promise<Shell> {
  return {
    visitor: context.var.visitor,
    now: desk.now(),
    stopped: await desk.spendSwitch.isStopped(),
    asset: desk.asset,
    notice: notices[context.req.query('done') ?? ''],
  }
}

/** What is told after an action. Only these words: an address must not be able to put its own on a page. */
const notices: Record<string, string> = {
  stopped: 'Spending is stopped, in every process.',
  resumed: 'Spending goes on. What the stop had parked is taken up again.',
  started: 'The sync has begun.',
  retried: 'They are tried again.',
  skipped: 'They are skipped.',
  nothing: 'There was nothing left to do.',
  reconciled: 'Ledger and chain were compared.',
  paused: 'The schedule is paused.',
  scheduled: 'The schedule goes on.',
}
