import type { Hono } from 'hono'
import { describeError, PaydirtError } from '../../../domain/errors.ts'
import type { DeskContext, DeskEnv } from '../access/gate.ts'
import type { PlannedSync } from '../model/sync-plan.ts'
import { planPage } from '../pages/sync/plan.ts'
import { defaultLimit, planForm } from '../pages/sync/plan-form.ts'
import type { Desk } from './desk.ts'
import { reloadSeconds } from './form.ts'

/**
 * The way to a sync: choose, read what it would cost and change, and confirm. Money is spent by the confirmation alone, and
 * only on what the plan has shown.
 */
export function syncPlanRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { plans } = desk.ports

  app.get('/sync', desk.requires('operator'), async (context) => {
    const { connector, entity, recipe, limit } = context.req.query()
    return desk.show(
      context,
      planForm(plans.choices(), { connector, entity, recipe, limit }, await desk.shell(context)),
    )
  })

  app.post('/sync/plans', ...desk.allowsChange('operator'), async (context) => {
    const body = await context.req.parseBody()
    const [connector = '', entity = ''] = text(body['source']).split(' ')
    const wanted = { connector, entity, recipe: text(body['recipe']), limit: text(body['limit']).trim() }
    const read = readWanted(wanted)
    if (typeof read === 'string')
      return desk.show(
        context,
        planForm(plans.choices(), { ...wanted, problem: read }, await desk.shell(context)),
        400,
      )
    return attempt(context, 'The plan was not made', async () => {
      const { planId } = await plans.make(read)
      await desk.recordAction(context, 'sync.plan', `${connector} ${entity}`, {
        plan: planId,
        recipe: read.recipe,
        limit: read.limit ?? null,
      })
      return context.redirect(`/sync/plans/${planId}`, 303)
    })
  })

  app.get('/sync/plans/:id', desk.requires('viewer'), async (context) => {
    const plan = await plans.read(context.req.param('id').slice(0, 40))
    if (!plan)
      return desk.show(
        context,
        {
          title: 'Plan not found',
          lead: 'There is no such plan, or it was not finished. Start a sync to make a new one.',
          current: '/',
          body: [],
        },
        404,
      )
    if (!plan.figures && plan.problem === undefined) context.header('refresh', String(reloadSeconds))
    return desk.show(context, planPage(plan, await desk.shell(context)))
  })

  app.post('/sync/plans/:id/start', ...desk.allowsChange('operator'), (context) =>
    attempt(context, 'The sync was not started', async () => {
      const { user, role } = context.var.visitor
      // Noted in the transaction that opens the run: no run of the desk is without its line in the audit log.
      const { runId } = await plans.start(context.req.param('id').slice(0, 40), {
        actor: user ?? 'unknown',
        role: role ?? 'none',
      })
      return context.redirect(`/runs/${runId}?done=started`, 303)
    }),
  )

  /** Returns the sync, or why there is none of this kind. */
  function readWanted({
    connector,
    entity,
    recipe,
    limit,
  }: Record<'connector' | 'entity' | 'recipe' | 'limit', string>): PlannedSync | string {
    const choice = plans.choices().find((each) => each.connector === connector && each.entity === entity)
    if (!choice) return 'Choose what to sync.'
    if (!choice.recipes.includes(recipe))
      return `There is no such recipe for ${entity}; there are ${choice.recipes.join(', ')}.`
    if (limit === '') return { connector, entity, recipe, limit: undefined }
    if (!/^[1-9]\d{0,6}$/.test(limit))
      return `The limit is a whole number of records, such as ${defaultLimit}, or blank for all.`
    return { connector, entity, recipe, limit: Number(limit) }
  }

  /** Shows an error that the operator can fix on a regular page. */
  async function attempt(
    context: DeskContext,
    title: string,
    work: () => Promise<Response>,
  ): Promise<Response> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof PaydirtError)) throw error
      desk.onError(error)
      return desk.show(context, { title, lead: describeError(error), current: '/', body: [] }, 409)
    }
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 10_000) : ''
}
