import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** A workflow execution that waits for us, and whose task has ended or whose time is running out. */
interface DueCallback {
  callbackId: string
  taskId: bigint
  tries: number
  askedAt: Date
}

/** HubSpot workflow executions that are blocked until we complete them. None of them may be lost. */
export interface WorkflowCallbacks {
  /** Adds an execution; does nothing when it was added before. */
  add(callbackId: string, taskId: bigint): Promise<void>
  has(callbackId: string): Promise<boolean>
  /**
   * Leases, for `leaseMs`, the executions whose task has ended or that were added before `latest`. One process completes
   * each at HubSpot, and another takes it over after a crash.
   */
  lease(options: { limit: number; leaseMs: number; latest: Date }): Promise<DueCallback[]>
  postpone(callbackId: string, dueAt: Date, reason: string): Promise<void>
  finish(callbackId: string, state: 'completed' | 'given_up', reason: string | null): Promise<void>
}

export function createWorkflowCallbacks(db: Database, { now }: { now: () => Date }): WorkflowCallbacks {
  return {
    async add(callbackId, taskId) {
      const at = now()
      await db
        .insertInto('workflow_callbacks')
        .values({ callback_id: callbackId, task_id: taskId, state: 'waiting', due_at: at, asked_at: at })
        .onConflict((conflict) => conflict.column('callback_id').doNothing())
        .execute()
    },

    async has(callbackId) {
      const row = await db
        .selectFrom('workflow_callbacks')
        .select('callback_id')
        .where('callback_id', '=', callbackId)
        .executeTakeFirst()
      return row !== undefined
    },

    async lease({ limit, leaseMs, latest }) {
      const at = now()
      const { rows } = await sql<DueCallback>`
        with due as (
          select callback_id from workflow_callbacks join tasks on tasks.id = task_id
          where workflow_callbacks.state = 'waiting' and due_at <= ${at}
            and (tasks.status in ('written', 'unchanged', 'skipped', 'rejected') or asked_at <= ${latest})
          order by due_at limit ${limit} for update of workflow_callbacks skip locked
        )
        update workflow_callbacks set due_at = ${new Date(at.getTime() + leaseMs)}, tries = tries + 1
        from due where workflow_callbacks.callback_id = due.callback_id
        returning workflow_callbacks.callback_id as "callbackId", task_id as "taskId", tries, asked_at as "askedAt"`.execute(
        db,
      )
      return rows
    },

    async postpone(callbackId, dueAt, reason) {
      await db
        .updateTable('workflow_callbacks')
        .set({ due_at: dueAt, reason })
        .where('callback_id', '=', callbackId)
        .where('state', '=', 'waiting')
        .execute()
    },

    async finish(callbackId, state, reason) {
      await db
        .updateTable('workflow_callbacks')
        .set({ state, reason, completed_at: now() })
        .where('callback_id', '=', callbackId)
        .where('state', '=', 'waiting')
        .execute()
    },
  }
}
