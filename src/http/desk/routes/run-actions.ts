import type { Hono } from 'hono'
import { resumeRun, stopRun, type RunResumed } from '../../../store/runs/run-stops.ts'
import { retryFailed } from '../../../store/runs/retry-and-skip.ts'
import { funnels, runHead, runReasons, type RunHead } from '../../../store/views/desk-runs.ts'
import { lastOfSource } from '../../../store/views/run-comparison.ts'
import { Problem } from '../../server/problem.ts'
import type { DeskContext, DeskEnv } from '../access/gate.ts'
import { runAsCsv } from '../model/run-export.ts'
import { comparisonPage, type ComparedRun } from '../pages/run/comparison.ts'
import type { Desk } from './desk.ts'
import { form } from './form.ts'

const resumed: Record<RunResumed, string> = {
  workers: 'run_resumed',
  scheduler: 'run_resumed',
  command: 'run_command',
}

/** Adds the actions on one run: stop, resume, retry, compare, export. */
export function runActionRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { db, ports } = desk
  const operator = () => desk.allowsChange('operator')

  app.post('/runs/:id/stop', ...operator(), async (context) => {
    const { id } = await existing(context)
    const { reason = '' } = await form(context)
    const by = context.var.visitor.user ?? 'unknown'
    // Stop first: a failing audit log must not delay the stop.
    const isStopped = await stopRun(db, id, { by, reason, now: desk.now() })
    if (isStopped) await desk.recordAction(context, 'run.stop', id, reason ? { reason } : undefined)
    return context.redirect(`/runs/${id}?done=${isStopped ? 'run_stopped' : 'run_ended'}`, 303)
  })

  app.post('/runs/:id/resume', ...operator(), async (context) => {
    const { id } = await existing(context)
    const by = await resumeRun(db, id, { now: desk.now(), background: background() })
    if (by) await desk.recordAction(context, 'run.resume', id, { continuedBy: by })
    return context.redirect(`/runs/${id}?done=${by ? resumed[by] : 'nothing'}`, 303)
  })

  app.post('/runs/:id/retry', ...operator(), async (context) => {
    const { id } = await existing(context)
    const result = await retryFailed(db, id, { now: desk.now(), connectors: background() })
    await desk.recordAction(context, 'run.retry', id, { ...result })
    return context.redirect(`/runs/${id}?done=${result.records > 0 ? 'retried' : 'nothing'}`, 303)
  })

  app.get('/runs/:id/compare', desk.requires('viewer'), async (context) => {
    const run = await existing(context)
    const last = await lastOfSource(db, run)
    const other = last === undefined ? undefined : await runHead(db, last)
    const compared = { run: await figuresOf(run), other: other && (await figuresOf(other)) }
    return desk.show(context, comparisonPage(compared, await desk.shell(context)))
  })

  app.get('/runs/:id/records.csv', desk.requires('viewer'), async (context) => {
    const { id } = await existing(context)
    if (context.req.method !== 'HEAD') await desk.recordAction(context, 'run.export', id)
    context.header('content-type', 'text/csv; charset=utf-8')
    context.header(
      'content-disposition',
      `attachment; filename="paydirt-run-${id.replaceAll(/[^\w-]/g, '_')}.csv"`,
    )
    const rows = ReadableStream.from(bytes(runAsCsv(db, id)))
    return context.body(rows)
  })

  async function existing(context: DeskContext): Promise<RunHead> {
    const id = context.req.param('id') ?? ''
    const run = await runHead(db, id)
    if (run) return run
    throw new Problem(404, 'no_such_run', `Run ${id.slice(0, 40)} not found.`)
  }

  async function figuresOf(run: RunHead): Promise<ComparedRun> {
    const funnel = (await funnels(db, [run.id])).get(run.id)
    if (!funnel) throw new Problem(404, 'no_such_run', `Run ${run.id.slice(0, 40)} not found.`)
    return { run, funnel, reasons: await runReasons(db, run.id) }
  }

  function background(): string[] {
    return ports.syncable().map(({ connector }) => connector)
  }
}

/** An error in the middle breaks the download off, so that half a file does not look like a whole one. */
async function* bytes(texts: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const text of texts) yield encoder.encode(text)
}
