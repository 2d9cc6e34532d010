import type { Context, MiddlewareHandler } from 'hono'
import type { SpendSwitch } from '../../../store/ledger/spend-switch.ts'
import type { AuditLog } from '../../../store/access/audit.ts'
import type { Database } from '../../../store/database/database.ts'
import type { DeskRole, SessionLedger } from '../../../store/access/sessions.ts'
import type { DeskAccess } from '../access/access.ts'
import type { DeskReads } from '../access/freshness.ts'
import type { DeskEnv } from '../access/gate.ts'
import type { DeskCaps } from '../model/budgets.ts'
import type { NowModel } from '../model/now.ts'
import type { DeskPorts } from '../model/ports.ts'
import type { RecordLinks } from '../model/record-links.ts'
import { StoreAwayError, type StoreWatch } from '../model/store-watch.ts'
import type { BoardBar } from './queue-board.ts'
import type { Page, Shell } from '../view/layout.ts'

export interface DeskOptions {
  db: Database
  /** Absent: everything is read from `db`. */
  reads?: DeskReads | undefined
  now: () => Date
  access: DeskAccess
  sessions: SessionLedger
  audit: AuditLog
  spendSwitch: Pick<SpendSwitch, 'isStopped'>
  caps: DeskCaps
  ports: DeskPorts
  links: RecordLinks
  /** Asks the database for a sign of life. Absent where it is in this process. */
  pingStore?: (() => Promise<void>) | undefined
  pingRedis?: (() => Promise<unknown>) | undefined
  /** The bull-board page, with or without its actions; when absent there is no such page. */
  board?: ((mayAct: boolean, bar: BoardBar) => MiddlewareHandler) | undefined
  /** The time limit of a page. Default 30 s. Actions have none. */
  timeoutMs?: number | undefined
  /** Aborts when the server stops; open streams then end. */
  signal: AbortSignal
  onError: (error: unknown) => void
  /** Called for each denied request with its kind, to be counted. */
  onDenied?: ((kind: string) => void) | undefined
}

/** Dependencies of the desk routes. */
export interface Desk extends DeskOptions {
  asset: (name: string) => string
  watch: StoreWatch
  readNow(): Promise<NowModel>
  /**
   * Reads for a page, from a standby where there is one that is near and this visitor has changed nothing of late. `read` must
   * change nothing.
   */
  read<T>(context: Context<DeskEnv>, read: (db: Database) => Promise<T>): Promise<T>
  shell(context: Context<DeskEnv>): Promise<Shell>
  show(context: Context<DeskEnv>, page: Page, status?: 200 | 400 | 404 | 409): Promise<Response>
  requires(role: DeskRole): MiddlewareHandler<DeskEnv>
  /** Guards an action: checks the role and the form's CSRF token. */
  allowsChange(role: DeskRole): [MiddlewareHandler<DeskEnv>, MiddlewareHandler<DeskEnv>]
  /** Records in the audit log who did what to which target. */
  recordAction(
    context: Context<DeskEnv>,
    action: string,
    target?: string,
    details?: Record<string, string | number | boolean | null>,
  ): Promise<void>
}

export async function shellOf(
  desk: Pick<Desk, 'now' | 'spendSwitch' | 'asset' | 'watch'>,
  context: Context<DeskEnv>,
): Promise<Shell> {
  return {
    visitor: context.var.visitor,
    now: desk.now(),
    ...(await spendingState(desk.watch.guard(desk.spendSwitch.isStopped()))),
    asset: desk.asset,
    notice: notices[context.req.query('done') ?? ''],
    behindMs: context.get('behindMs'),
  }
}

/** The frame of a page comes up without the database too. */
export async function spendingState(
  reading: ReturnType<SpendSwitch['isStopped']>,
): Promise<Pick<Shell, 'stopped' | 'isStoreAway'>> {
  try {
    return { stopped: await reading }
  } catch (error) {
    if (error instanceof StoreAwayError) return { stopped: undefined, isStoreAway: true }
    throw error
  }
}

/** The notices shown after an action. The address names only a key, so that a link cannot put its own text on a page. */
const notices: Record<string, string> = {
  stopped: 'Spending is stopped in every process.',
  resumed: 'Spending is on again. Parked work resumes.',
  started: 'Sync started.',
  retried: 'Retrying.',
  skipped: 'Records skipped.',
  task_skipped: 'Record skipped.',
  run_stopped: 'The run is stopped. What is on its way is waited for.',
  run_ended: 'The run has ended: there was nothing to stop.',
  run_resumed: 'The run goes on.',
  run_command: 'Released. Run the command that began it again to continue it.',
  nothing: 'There was nothing to do.',
  reconciled: 'Reconciliation finished.',
  paused: 'Schedule paused.',
  schedule_run: 'A scheduler begins it within seconds, or after the run before it.',
  schedule_due: 'It is about to begin already.',
  scheduled: 'Schedule resumed.',
  stop_lifted: 'The stop is lifted. Nothing was sent: the command that orders the action sends it.',
  started_here: 'Started. This page shows how far it is.',
  list_answered: 'The answer is kept.',
  list_forgotten: 'The answer is taken back.',
  asked_again: 'The operation is asked again, with one request first.',
}
