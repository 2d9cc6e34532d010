import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** An execution of a workflow that waits for us, with a task that has ended or an end that is near. */
interface DueCallback {
  callbackId: string
  taskId: bigint
  tries: number
  askedAt: Date
}

/** Executions of a HubSpot workflow stand still until we say that they may go on: nothing of that may be lost. */
export interface WorkflowCallbacks {
  /** The same execution asked for twice is one. */
  add(callbackId: string, taskId: bigint): Promise<void>
  has(callbackId: string): Promise<boolean>
  /**
   * Takes those whose task has ended, or that were asked for before `latest`, for `leaseMs`: of several processes one
   * tells HubSpot, and after a crash another does.
   */
  take(options: { limit: number; leaseMs: number; latest: Date }): Promise<DueCallback[]>
  again(callbackId: string, dueAt: Date, reason: string): Promise<void>
  end(callbackId: string, state: 'completed' | 'given_up', reason: string | null): Promise<void>
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

    async take({ limit, leaseMs, latest }) {
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

    async again(callbackId, dueAt, reason) {
      await db
        .updateTable('workflow_callbacks')
        .set({ due_at: dueAt, reason })
        .where('callback_id', '=', callbackId)
        .where('state', '=', 'waiting')
        .execute()
    },

    async end(callbackId, state, reason) {
      await db
        .updateTable('workflow_callbacks')
        .set({ state, reason, completed_at: now() })
        .where('callback_id', '=', callbackId)
        .where('state', '=', 'waiting')
        .execute()
    },
  }
}
