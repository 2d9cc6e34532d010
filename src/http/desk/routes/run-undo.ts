import type { Hono } from 'hono'
import { describeError, PaydirtError } from '../../../domain/errors.ts'
import { runHead, type RunHead } from '../../../store/views/desk-runs.ts'
import { Problem } from '../../server/problem.ts'
import type { DeskContext, DeskEnv } from '../access/gate.ts'
import { readRunControl } from '../model/run-control.ts'
import type { UndoPort, UndoView } from '../model/run-undo.ts'
import { shownRecords, undoPage } from '../pages/run/undo.ts'
import type { Desk } from './desk.ts'
import { identitiesIn } from '../../../store/views/record-tasks.ts'

/** The page of an undo at work is loaded again after this many seconds. Needs no script. */
const reloadSeconds = 3

/** The way to an undo: its plan, the question, and its result. */
export function runUndoRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { db, ports } = desk

  app.get('/runs/:id/undo', desk.requires('operator'), async (context) => {
    const { run, undo } = await existing(context)
    const job = undo.job(run.id)
    const isAtWork = job !== undefined && job.ended === undefined
    if (isAtWork) context.header('refresh', String(reloadSeconds))
    const read = isAtWork ? {} : await planOf(run, undo)
    const names = await identitiesIn(db, run.id, read.plan ? shownRecords(read.plan) : [])
    const detail = { run, job, plan: read.plan, names, obstacle: read.obstacle }
    return desk.show(context, undoPage(detail, await desk.shell(context)))
  })

  app.post('/runs/:id/undo', ...desk.allowsChange('operator'), async (context) => {
    const { run, undo } = await existing(context)
    const obstacle = await obstacleOf(run)
    if (obstacle !== undefined) throw new Problem(409, 'run_active', obstacle)
    const by = context.var.visitor.user ?? 'unknown'
    await desk.recordAction(context, 'run.undo', run.id)
    undo.start(run.id, by, (figures) => desk.recordAction(context, 'run.undone', run.id, figures))
    return context.redirect(`/runs/${run.id}/undo`, 303)
  })

  async function planOf(run: RunHead, undo: UndoPort): Promise<{ plan?: UndoView; obstacle?: string }> {
    const obstacle = await obstacleOf(run)
    if (obstacle !== undefined) return { obstacle }
    try {
      return { plan: await undo.plan(run.id) }
    } catch (error) {
      if (!(error instanceof PaydirtError)) throw error
      return { obstacle: describeError(error) }
    }
  }

  /** An undo beside the workers would race with what they still write. */
  async function obstacleOf(run: RunHead): Promise<string | undefined> {
    const { state, isUnderWay } = await readRunControl(db, run)
    if (state === 'finished' || state === 'failed' || (state === 'stopped' && !isUnderWay)) return undefined
    return state === 'stopped'
      ? 'Records of this run are still on their way to the CRM. Load this page again in a moment.'
      : 'This run is not over: stop it on its page first, or wait for its end.'
  }

  async function existing(context: DeskContext): Promise<{ run: RunHead; undo: UndoPort }> {
    const id = context.req.param('id') ?? ''
    const run = await runHead(db, id)
    if (run && ports.undo) return { run, undo: ports.undo }
    throw new Problem(404, 'no_such_run', `Run ${id.slice(0, 40)} not found.`)
  }
}
