import type { Hono } from 'hono'
import { describeError, PaydirtError } from '../../../../domain/errors.ts'
import { formatUsd } from '../../../../domain/money.ts'
import { reviewAnswers } from '../../../../domain/lists/judged-row.ts'
import { Problem } from '../../../server/problem.ts'
import type { DeskContext, DeskEnv } from '../../access/gate.ts'
import type { ListAction } from '../../model/lists/list-actions.ts'
import type { ListsPort } from '../../model/lists/lists-port.ts'
import type { Desk } from '../desk.ts'
import { form, readAmount } from '../form.ts'
import type { ListPages } from './pages.ts'

/** A row may be like many records, and each of their ids is sent back. */
const longestShown = 60_000

/** Adds the actions on lists: preview, fetch, plan and apply, and the answers of the review. Each is noted in the audit log. */
export function listActionRoutes(app: Hono<DeskEnv>, desk: Desk, pages: ListPages): void {
  const operator = () => desk.allowsChange('operator')

  app.post('/lists/:name/preview', ...operator(), async (context) => {
    const { name, port } = existing(context)
    const most = readAmount((await form(context))['most'])
    if (most === undefined)
      return pages.list(context, name, { text: 'The amount cannot be read.', status: 400 })
    return begin(context, port, name, { kind: 'preview', budgetAtomic: most })
  })

  app.post('/lists/:name/fetch', ...operator(), async (context) => {
    const { name, port } = existing(context)
    const { budget, reachable } = await form(context)
    const most = readAmount(budget)
    if (most === undefined || most === 0n)
      return pages.list(context, name, { text: 'The budget is an amount in USD, such as 2.50.', status: 400 })
    const reachableOnly = reachable === 'yes'
    return begin(context, port, name, { kind: 'fetch', budgetAtomic: most, reachableOnly })
  })

  app.post('/lists/:name/plan', ...operator(), async (context) => {
    const { name, port } = existing(context)
    return begin(context, port, name, { kind: 'plan', planId: port.newPlanId() })
  })

  app.post('/lists/:name/plans/:id/apply', ...operator(), async (context) => {
    const { name, port } = existing(context)
    const planId = (context.req.param('id') ?? '').slice(0, 40)
    const plan = await port.plan(name, planId)
    if (!plan) throw new Problem(404, 'no_such_plan', 'There is no such plan of this list.')
    if ((await form(context))['most'] !== String(plan.mostAtomic))
      return pages.plan(context, name, { text: 'Its cost has changed: look at it again.', status: 409 })
    return begin(context, port, name, { kind: 'apply', planId })
  })

  app.post('/lists/:name/review', ...operator(), async (context) => {
    const { name, port } = existing(context)
    const fields = await form(context)
    const answer = fields['same'] ? 'same' : reviewAnswers.find((each) => each === fields['answer'])
    if (!answer) return pages.review(context, name, { text: 'Choose an answer.', status: 400 })
    const record = fields['same'] ?? fields['record']
    const body = await context.req.parseBody()
    const shown = typeof body['shown'] === 'string' ? body['shown'].slice(0, longestShown).split(' ') : []
    const { key = '' } = fields
    const by = context.var.visitor.user ?? 'unknown'
    try {
      const answered = await port.answer(name, { key, answer, record, shown, by })
      await desk.recordAction(context, 'list.answer', name, { row: key, answer, record: answered.record })
    } catch (error) {
      return refused(error, (text) => pages.review(context, name, { text, status: 409 }))
    }
    return context.redirect(`/lists/${name}/review?done=list_answered`, 303)
  })

  app.post('/lists/:name/review/forget', ...operator(), async (context) => {
    const { name, port } = existing(context)
    const { key = '' } = await form(context)
    try {
      const { answer } = await port.forgetAnswer(name, key)
      await desk.recordAction(context, 'list.forget_answer', name, { row: key, answer })
    } catch (error) {
      return refused(error, (text) => pages.review(context, name, { text, status: 409 }))
    }
    return context.redirect(`/lists/${name}/review?done=list_forgotten`, 303)
  })

  async function begin(
    context: DeskContext,
    port: ListsPort,
    name: string,
    action: ListAction,
  ): Promise<Response> {
    const { kind } = action
    const last = port.job(name)
    const busy = { text: 'An action on this list is at work already.', status: 409 as const }
    if (last && !last.ended) return pages.list(context, name, busy)
    const details: Record<string, string> =
      'planId' in action ? { plan: action.planId } : { budget: formatUsd(action.budgetAtomic) }
    // Noted first: nothing is paid or made that the audit log does not know.
    await desk.recordAction(context, `list.${kind}`, name, details)
    const by = context.var.visitor.user ?? 'unknown'
    const isStarted = port.start(name, action, by, (figures) =>
      desk.recordAction(context, 'list.ended', name, { action: kind, ...figures }),
    )
    if (!isStarted) return pages.list(context, name, busy)
    const place = kind === 'apply' ? `/lists/${name}/plans/${action.planId}` : `/lists/${name}`
    return context.redirect(`${place}?done=started_here`, 303)
  }

  function existing(context: DeskContext): { name: string; port: ListsPort } {
    const name = context.req.param('name') ?? ''
    const port = desk.ports.lists
    if (port?.names().includes(name)) return { name, port }
    throw new Problem(404, 'no_such_list', `List ${name.slice(0, 40)} not found.`)
  }
}

/** Shows an error that the operator can mend on the page. */
async function refused(error: unknown, show: (text: string) => Promise<Response>): Promise<Response> {
  if (!(error instanceof PaydirtError)) throw error
  return show(describeError(error))
}
