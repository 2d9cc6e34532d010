import type { Hono } from 'hono'
import { describeError, PaydirtError } from '../../../domain/errors.ts'
import { Problem } from '../../server/problem.ts'
import type { DeskContext, DeskEnv } from '../access/gate.ts'
import type { Desk } from './desk.ts'
import { form } from './form.ts'

/** The actions of the desk. Each is recorded in the audit log and redirects to a page. */
export function actionRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { ports } = desk
  const operator = () => desk.allowsChange('operator')

  app.post('/spending/stop', ...operator(), async (context) => {
    const { reason } = await form(context)
    const by = context.var.visitor.user ?? 'unknown'
    // Stop first: a failing audit log must not delay the stop.
    await ports.stopSpending(reason ? `${reason} (${by})` : `by ${by}`)
    await desk.recordAction(context, 'spending.stop', undefined, reason ? { reason } : undefined)
    return back(context, 'stopped')
  })

  app.post('/spending/resume', ...operator(), async (context) => {
    const { reason } = await form(context)
    await desk.recordAction(context, 'spending.resume', undefined, reason ? { reason } : undefined)
    await ports.resumeSpending()
    return back(context, 'resumed')
  })

  app.post('/spend/reconcile', ...operator(), async (context) => {
    const { reconcile } = ports
    if (!reconcile) throw new Problem(400, 'no_wallet', 'Reconciliation needs a wallet.')
    return attempt(context, async () => {
      const result = await reconcile()
      await desk.recordAction(context, 'reconcile', undefined, result)
      return context.redirect('/spend?done=reconciled', 303)
    })
  })

  for (const change of ['pause', 'resume'] as const) {
    app.post(`/schedules/${change}`, ...operator(), async (context) => {
      const { name = '' } = await form(context)
      const { schedules } = ports
      const known = (await schedules?.list())?.some((each) => each.name === name)
      if (!schedules || !known) throw new Problem(400, 'no_such_schedule', 'Schedule not found.')
      await schedules[change](name, context.var.visitor.user ?? 'unknown')
      await desk.recordAction(context, `schedule.${change}`, name)
      return context.redirect(`/settings?done=${change === 'pause' ? 'paused' : 'scheduled'}`, 303)
    })
  }

  /** Shows an error that the operator can fix on a regular page. */
  async function attempt(context: DeskContext, work: () => Promise<Response>): Promise<Response> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof PaydirtError)) throw error
      desk.onError(error)
      return desk.show(
        context,
        { title: 'Action failed', lead: describeError(error), current: '', body: [] },
        409,
      )
    }
  }

  function back(context: DeskContext, done: string): Response {
    const referer = context.req.header('referer')
    const path = referer !== undefined && URL.canParse(referer) ? new URL(referer).pathname : '/'
    return context.redirect(`${/^\/(?![/\\])/.test(path) ? path : '/'}?done=${done}`, 303)
  }
}
