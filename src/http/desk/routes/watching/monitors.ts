import type { Hono } from 'hono'
import { Problem } from '../../../server/problem.ts'
import type { DeskContext, DeskEnv } from '../../access/gate.ts'
import type { MonitorAction, MonitorsPort, MonitorsView } from '../../model/watching/monitors-port.ts'
import { monitorPage } from '../../pages/watching/monitor.ts'
import { monitorsPage } from '../../pages/watching/monitors.ts'
import type { Desk } from '../desk.ts'
import { pageNumber, reloadSeconds } from '../form.ts'

const none: MonitorsView = { monitors: [], others: [], headers: [], compared: undefined }
const busy = 'An action on monitors is at work already.'

/** The pages of monitors, and the actions on them. A page asks the service nothing. Each action is noted in the audit log. */
export function monitorRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const viewer = desk.requires('viewer')
  const operator = () => desk.allowsChange('operator')

  app.get('/monitors', viewer, (context) => showAll(context))
  app.get('/monitors/:name', viewer, (context) => showOne(context, context.req.param('name')))
  app.post('/monitors/compare', ...operator(), (context) => begin(context, { kind: 'compare' }))
  for (const kind of ['pause', 'resume'] as const)
    app.post(`/monitors/:name/${kind}`, ...operator(), (context) =>
      begin(context, { kind, monitor: context.req.param('name') }),
    )

  async function showAll(context: DeskContext, refused?: string): Promise<Response> {
    const view = (await desk.ports.monitors?.read()) ?? none
    const job = desk.ports.monitors?.job()
    if (job && !job.ended && refused === undefined) context.header('refresh', String(reloadSeconds))
    return desk.show(
      context,
      monitorsPage({ view, job, refused }, await desk.shell(context)),
      refused === undefined ? 200 : 409,
    )
  }

  async function showOne(context: DeskContext, name: string, refused?: string): Promise<Response> {
    const { port, view } = await existing(name)
    const monitor = view.monitors.find((each) => each.name === name)!
    const matches = await port.matches(name, pageNumber(context))
    const job = port.job()
    if (job && !job.ended && refused === undefined) context.header('refresh', String(reloadSeconds))
    return desk.show(
      context,
      monitorPage({ view, monitor, matches, job, refused }, await desk.shell(context)),
      refused === undefined ? 200 : 409,
    )
  }

  async function begin(context: DeskContext, action: MonitorAction): Promise<Response> {
    const name = 'monitor' in action ? action.monitor : undefined
    const port = name === undefined ? desk.ports.monitors : (await existing(name)).port
    if (!port) throw new Problem(404, 'no_monitors', 'No monitor is declared.')
    const refuse = () => (name === undefined ? showAll(context, busy) : showOne(context, name, busy))
    const last = port.job()
    if (last && !last.ended) return refuse()
    const { kind } = action
    // Noted first: nothing is changed at the service that the audit log does not know.
    await desk.recordAction(context, `monitors.${kind}`, name)
    const isStarted = port.start(action, context.var.visitor.user ?? 'unknown', (figures) =>
      desk.recordAction(context, 'monitors.ended', name, { action: kind, ...figures }),
    )
    if (!isStarted) return refuse()
    return context.redirect(`/monitors${name === undefined ? '' : `/${name}`}?done=started_here`, 303)
  }

  async function existing(name: string): Promise<{ port: MonitorsPort; view: MonitorsView }> {
    const port = desk.ports.monitors
    const view = await port?.read()
    if (port && view?.monitors.some((each) => each.name === name)) return { port, view }
    throw new Problem(404, 'no_such_monitor', `Monitor ${name.slice(0, 40)} not found.`)
  }
}
