import { html } from 'hono/html'
import type { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { livePath, tokenOf, type DeskEnv } from '../access/gate.ts'
import { spendingState, type Desk } from './desk.ts'
import { createHeartbeat } from '../model/heartbeat.ts'
import { shareReadings } from '../model/readings.ts'
import { sendLive, type Regions } from './send-live.ts'
import { nowRegions } from '../pages/now.ts'
import { placeOf, readRun } from '../model/read-run.ts'
import { runRegions } from '../pages/run.ts'
import { StoreAwayError } from '../model/store-watch.ts'
import { spendingControl } from '../view/layout.ts'

/** Streams the parts of any page that change. */
export function liveRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const heartbeat = createHeartbeat([desk.pingStore, desk.pingRedis].filter((ping) => ping !== undefined))
  const now = shareReadings(desk.readNow, 900, heartbeat.state)
  const stopped = shareReadings(() => desk.watch.guard(desk.spendSwitch.isStopped()), 400, heartbeat.state)

  app.get(livePath, desk.requires('viewer'), (context) => {
    if (context.req.method === 'HEAD') return context.body(null, 200, { 'content-type': 'text/event-stream' })
    const { visitor } = context.var
    const page = context.req.query('page') ?? 'shell'
    const token = tokenOf(context)

    async function read(): Promise<Regions | undefined> {
      if (!(await isStillSignedIn())) return undefined
      const shell = { visitor, now: desk.now(), ...(await spendingState(stopped())), asset: desk.asset }
      return { spending: html`${spendingControl(shell)}`, ...(await orNothing(parts())) }
    }

    /** While the database is away no session can end: who was let in stays, and learns that it is away. */
    async function isStillSignedIn(): Promise<boolean> {
      if (!visitor.hasSession) return true
      if (token === undefined) return false
      const session = await desk.watch.guard(desk.sessions.peek(token)).catch((error: unknown) => {
        if (error instanceof StoreAwayError) return visitor
        throw error
      })
      return session !== undefined
    }

    async function parts(): Promise<Regions> {
      if (page === 'now') return nowRegions(await now(), { caps: desk.caps, syncable: desk.ports.syncable() })
      if (page.startsWith('run:')) {
        const [id = '', query = ''] = page.slice(4).split('?')
        const wanted = new URLSearchParams(query)
        const place = placeOf((name) => wanted.get(name))
        const connectors = desk.ports.syncable().map(({ connector }) => connector)
        const at = desk.now()
        const run = await desk.watch.guard(
          readRun(desk.db, id, { now: at, connectors, place, prices: desk.caps.prices }),
        )
        return run ? runRegions(run, { visitor, now: at }) : {}
      }
      return {}
    }

    context.header('x-accel-buffering', 'no')
    return streamSSE(context, (stream) =>
      sendLive(stream, {
        read,
        signal: desk.signal,
        everyMs: 1_000,
        onChange: heartbeat.onChange,
        onError: desk.onError,
      }),
    )
  })
}

async function orNothing(parts: Promise<Regions>): Promise<Regions> {
  return parts.catch((error: unknown) => {
    if (error instanceof StoreAwayError) return {}
    throw error
  })
}
