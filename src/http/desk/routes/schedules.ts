import type { Hono } from 'hono'
import { describeError, PaydirtError } from '../../../domain/errors.ts'
import { funnels } from '../../../store/views/desk-runs.ts'
import { Problem } from '../../server/problem.ts'
import type { DeskEnv } from '../access/gate.ts'
import type { ScheduleRow } from '../model/ports.ts'
import { scheduleRunPage } from '../pages/schedule-run.ts'
import type { Desk } from './desk.ts'
import { form } from './form.ts'

/** Runs a schedule now: what begins, the question, and the order to the schedulers. */
export function scheduleRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { schedules } = desk.ports

  app.get('/schedules/run', desk.requires('operator'), async (context) => {
    const schedule = await named(context.req.query('name') ?? '')
    const figures = await funnels(desk.db, schedule.lastRuns)
    const last = schedule.lastRuns.flatMap((id) => {
      const funnel = figures.get(id)
      return funnel ? [{ id, funnel }] : []
    })
    return desk.show(context, scheduleRunPage({ schedule, last, caps: desk.caps }, await desk.shell(context)))
  })

  app.post('/schedules/run', ...desk.allowsChange('operator'), async (context) => {
    const { name } = await named((await form(context))['name'] ?? '')
    try {
      const objects = (await schedules?.runNow(name)) ?? 0
      if (objects > 0) await desk.recordAction(context, 'schedule.run', name, { objects })
      return context.redirect(`/settings?done=${objects > 0 ? 'schedule_run' : 'schedule_due'}`, 303)
    } catch (error) {
      // The CRM may be out of reach, or have no such object.
      if (!(error instanceof PaydirtError)) throw error
      throw new Problem(409, error.code, describeError(error))
    }
  })

  async function named(name: string): Promise<ScheduleRow> {
    const schedule = (await schedules?.list())?.find((each) => each.name === name)
    if (schedule) return schedule
    throw new Problem(404, 'no_such_schedule', 'Schedule not found.')
  }
}
