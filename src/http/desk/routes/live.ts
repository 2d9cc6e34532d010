import { html } from 'hono/html'
import type { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { runLive } from '../../../store/views/desk-runs.ts'
import { livePath, tokenOf, type DeskEnv } from '../access/gate.ts'
import type { Desk } from './desk.ts'
import { shareReadings } from '../model/readings.ts'
import { sendLive, type Regions } from './send-live.ts'
import { nowRegions } from '../pages/now.ts'
import { runRegions } from '../pages/run.ts'
import { readNow } from '../model/read-now.ts'
import { spendingControl } from '../view/layout.ts'

/** Streams the parts of any page that change. */
export function liveRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const now = shareReadings(() => readNow(desk), 900)
  const stopped = shareReadings(() => desk.spendSwitch.isStopped(), 400)

  app.get(livePath, desk.requires('viewer'), (context) => {
    if (context.req.method === 'HEAD') return context.body(null, 200, { 'content-type': 'text/event-stream' })
    const { visitor } = context.var
    const page = context.req.query('page') ?? 'shell'
    const token = tokenOf(context)

    async function read(): Promise<Regions | undefined> {
      if (visitor.hasSession && (token === undefined || !(await desk.sessions.peek(token)))) return undefined
      const shell = { visitor, now: desk.now(), stopped: await stopped(), asset: desk.asset }
      return { spending: html`${spendingControl(shell)}`, ...(await parts()) }
    }

    async function parts(): Promise<Regions> {
      if (page === 'now') return nowRegions(await now(), { caps: desk.caps, syncable: desk.ports.syncable() })
      if (page.startsWith('run:')) {
        const run = await runLive(desk.db, page.slice(4), desk.now())
        return run ? runRegions(run, desk.now()) : {}
      }
      return {}
    }

    context.header('x-accel-buffering', 'no')
    return streamSSE(context, (stream) =>
      sendLive(stream, { read, signal: desk.signal, everyMs: 1_000, onError: desk.onError }),
    )
  })
}
