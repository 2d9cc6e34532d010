import type { Hono } from 'hono'
import { actionsOn, retryTask, skipTask, type RetryLimits } from '../../../store/failures/retry-one.ts'
import { taskDetail, writesOfTask } from '../../../store/views/one-task.ts'
import { lookupsWithCharges } from '../../../store/views/record-lookups.ts'
import type { DeskContext, DeskEnv } from '../access/gate.ts'
import { taskPage } from '../pages/task.ts'
import type { Desk } from './desk.ts'
import { failureDays } from './pages.ts'

/** The page of each task, and what an operator can do with one. */
export function taskRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { db, links } = desk

  app.get('/tasks/:id', desk.requires('viewer'), async (context) => {
    const task = await taskOf(context)
    if (!task) return missing(context)
    const place = { connector: task.connector, entity: task.entity, id: task.recordId }
    const [writes, lookups, actions, url] = await Promise.all([
      writesOfTask(db, task.id),
      lookupsWithCharges(db, task.lookups),
      actionsOn(db, task.id, limits()),
      links.recordUrl(place),
    ])
    return desk.show(
      context,
      taskPage({ task, writes, lookups, actions, url, links }, await desk.shell(context)),
    )
  })

  app.post('/tasks/:id/retry', ...desk.allowsChange('operator'), async (context) => {
    const task = await taskOf(context)
    if (!task) return missing(context)
    const isRetried = await retryTask(db, task.id, { ...limits(), now: desk.now() })
    if (isRetried) await desk.recordAction(context, 'task.retry', `task ${task.id}`, { run: task.run })
    return context.redirect(`/tasks/${task.id}?done=${isRetried ? 'retried' : 'nothing'}`, 303)
  })

  app.post('/tasks/:id/skip', ...desk.allowsChange('operator'), async (context) => {
    const task = await taskOf(context)
    if (!task) return missing(context)
    const { why } = await context.req.parseBody()
    const isSkipped = await skipTask(db, task.id, {
      now: desk.now(),
      by: context.var.visitor.user ?? 'unknown',
      why: typeof why === 'string' ? oneLine(why) : '',
    })
    // The reason stands with the task, not here: it may name a person, and this log is never erased.
    if (isSkipped) await desk.recordAction(context, 'task.skip', `task ${task.id}`, { run: task.run })
    return context.redirect(`/tasks/${task.id}?done=${isSkipped ? 'task_skipped' : 'nothing'}`, 303)
  })

  function limits(): RetryLimits {
    return {
      since: new Date(desk.now().getTime() - failureDays * 86_400_000),
      connectors: desk.ports.syncable().map(({ connector }) => connector),
    }
  }

  async function taskOf(context: DeskContext) {
    const id = context.req.param('id') ?? ''
    return /^\d{1,18}$/.test(id) ? taskDetail(db, BigInt(id)) : undefined
  }

  async function missing(context: DeskContext): Promise<Response> {
    const lead = 'There is no such task. Records shows those of all runs.'
    return desk.show(context, { title: 'Not found', lead, current: '/records', body: [] }, 404)
  }
}

/** Control characters and halves of a character could not be stored. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 200)
    .toWellFormed()
}
