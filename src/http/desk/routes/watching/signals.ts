import type { Hono } from 'hono'
import { formatUsd } from '../../../../domain/money.ts'
import { Problem } from '../../../server/problem.ts'
import type { DeskContext, DeskEnv } from '../../access/gate.ts'
import type { PipelineAction, PipelineView, SignalsPort } from '../../model/watching/signals-port.ts'
import { accountPage } from '../../pages/watching/account.ts'
import {
  noSignalsPage,
  periods,
  shownParts,
  signalsPage,
  type SignalsView,
} from '../../pages/watching/signals.ts'
import type { Desk } from '../desk.ts'
import { form, pageNumber, readAmount, reloadSeconds } from '../form.ts'

const perPage = 25
const longestRecord = 500

type Refusal = { text: string; status: 400 | 409 }

/** The pages of signals, and the actions on pipelines. Each action is noted in the audit log. */
export function signalRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const viewer = desk.requires('viewer')
  const operator = () => desk.allowsChange('operator')

  app.get('/signals', viewer, (context) => show(context, context.req.query('pipeline')))

  app.get('/signals/account', viewer, async (context) => {
    const record = (context.req.query('record') ?? '').slice(0, longestRecord)
    const view = await desk.ports.signals?.account(record, pageNumber(context))
    if (!view || 'missing' in view)
      return desk.show(
        context,
        {
          title: 'Account not found',
          lead: view?.missing ?? 'No accounts are watched.',
          current: '/signals',
          body: [],
        },
        404,
      )
    const { connector, entity, id } = view.account
    const url = await desk.links.recordUrl({ connector, entity, id })
    return desk.show(context, accountPage({ view, url }, await desk.shell(context)))
  })

  app.post('/signals/:name/plan', ...operator(), (context) => begin(context, { kind: 'plan' }))

  app.post('/signals/:name/run', ...operator(), async (context) => {
    const budgetAtomic = readAmount((await form(context))['budget'])
    if (budgetAtomic === undefined || budgetAtomic === 0n)
      return show(context, context.req.param('name'), {
        text: 'The budget is an amount in USD, such as 2.50.',
        status: 400,
      })
    return begin(context, { kind: 'run', budgetAtomic })
  })

  async function show(context: DeskContext, name: string | undefined, refused?: Refusal): Promise<Response> {
    const port = desk.ports.signals
    const pipelines = (await port?.pipelines()) ?? []
    const [first] = pipelines
    if (!port || !first) return desk.show(context, noSignalsPage())
    const pipeline = name === undefined ? first : named(pipelines, name)
    const view = await read(context, port, pipelines, pipeline)
    if (!refused && view.job && !view.job.ended) context.header('refresh', String(reloadSeconds))
    return desk.show(
      context,
      signalsPage({ ...view, refused: refused?.text }, await desk.shell(context)),
      refused?.status,
    )
  }

  async function read(
    context: DeskContext,
    port: SignalsPort,
    pipelines: readonly PipelineView[],
    pipeline: PipelineView,
  ): Promise<SignalsView> {
    const days = periods.find((each) => String(each) === context.req.query('days')) ?? 7
    const shown = shownParts.find((each) => each === context.req.query('show')) ?? 'moved'
    const report = await port.moved(pipeline.name, days)
    const wanted = pageNumber(context)
    const { job, plan } = { job: port.job(pipeline.name), plan: port.plan(pipeline.name) }
    const view = { pipelines, pipeline, days, shown, report, job, plan }
    if (shown === 'all') {
      const { accounts, page, pages } = await port.accounts(pipeline.name, wanted)
      return { ...view, rows: { of: 'all', accounts }, page, pages }
    }
    if (shown === 'moved') {
      const { part, ...place } = partOf(report.moved, wanted)
      return { ...view, rows: { of: 'moved', accounts: part }, ...place }
    }
    const { part, ...place } = partOf(shown === 'new' ? report.added : report.gone, wanted)
    return { ...view, rows: { of: 'names', accounts: part }, ...place }
  }

  async function begin(context: DeskContext, action: PipelineAction): Promise<Response> {
    const port = desk.ports.signals
    const name = context.req.param('name') ?? ''
    const pipeline = named((await port?.pipelines()) ?? [], name)
    const busy: Refusal = { text: 'An action on this pipeline is at work already.', status: 409 }
    const last = port?.job(pipeline.name)
    if (!port || (last && !last.ended)) return show(context, name, busy)
    const { kind } = action
    // Noted first: nothing is paid that the audit log does not know.
    await desk.recordAction(
      context,
      `signals.${kind}`,
      name,
      action.kind === 'run' ? { budget: formatUsd(action.budgetAtomic) } : undefined,
    )
    const isStarted = port.start(name, action, context.var.visitor.user ?? 'unknown', (figures) =>
      desk.recordAction(context, 'signals.ended', name, { action: kind, ...figures }),
    )
    if (!isStarted) return show(context, name, busy)
    return context.redirect(`/signals?pipeline=${encodeURIComponent(name)}&done=started_here`, 303)
  }
}

function named(pipelines: readonly PipelineView[], name: string): PipelineView {
  const found = pipelines.find((each) => each.name === name)
  if (found) return found
  throw new Problem(404, 'no_such_pipeline', `Pipeline ${name.slice(0, 40)} not found.`)
}

function partOf<T>(rows: readonly T[], wanted: number): { part: readonly T[]; page: number; pages: number } {
  const pages = Math.max(1, Math.ceil(rows.length / perPage))
  const page = Math.min(Math.max(1, wanted), pages)
  return { part: rows.slice((page - 1) * perPage, page * perPage), page, pages }
}
