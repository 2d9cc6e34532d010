import type { Hono } from 'hono'
import { lastReconciliation } from '../../../store/chain/reconciliations.ts'
import { moneyNow } from '../../../store/views/desk-now.ts'
import { funnels, runHeads, type RunCursor, type RunHead } from '../../../store/views/desk-runs.ts'
import { spendDays, spendTotals } from '../../../store/views/desk-spend.ts'
import { refusals, spendBy } from '../../../store/views/spend.ts'
import type { DeskContext, DeskEnv } from '../access/gate.ts'
import type { Desk } from './desk.ts'
import { budgetBars, budgetScopes } from '../model/budgets.ts'
import { auditPage } from '../pages/audit.ts'
import { nowPage } from '../pages/now.ts'
import { placeOf, readRun } from '../model/read-run.ts'
import { runPage } from '../pages/run.ts'
import { runsPage } from '../pages/runs.ts'
import { settingsPage } from '../pages/settings.ts'
import { spendPage } from '../pages/spend.ts'
import { undoneFields } from '../../../store/writes/undone-fields.ts'

const dayMs = 86_400_000
/** The days for which rejected records are listed and can be retried. */
export const failureDays = 14
const chartDays = 30
const runsPerPage = 20
/** A page of so many rows is a few screens of a phone. */
const auditPerPage = 100

/** The pages of the desk. */
export function pageRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { db, ports } = desk
  const viewer = desk.requires('viewer')

  app.get('/', viewer, async (context) => {
    const [model, shell] = await Promise.all([desk.readNow(), desk.shell(context)])
    return desk.show(context, nowPage(model, { caps: desk.caps, syncable: ports.syncable() }, shell))
  })

  app.get('/runs', viewer, async (context) => {
    const [older, newer] = [runCursor(context.req.query('older')), runCursor(context.req.query('newer'))]
    const { heads, isMore, figures, undone } = await desk.read(context, async (reads) => {
      const found = await runHeads(reads, {
        limit: runsPerPage + 1,
        before: newer ? undefined : older,
        after: newer,
      })
      const isMore = found.length > runsPerPage
      // The one too many is the first of a page that was read backwards.
      const heads = newer && isMore ? found.slice(1) : found.slice(0, runsPerPage)
      const ids = heads.map(({ id }) => id)
      return { heads, isMore, figures: await funnels(reads, ids), undone: await undoneFields(reads, ids) }
    })
    const runs = heads.flatMap((run) => {
      const funnel = figures.get(run.id)
      return funnel ? [{ run, funnel, undone: undone.get(run.id) }] : []
    })
    const [first, last] = [heads[0], heads.at(-1)]
    const turns = {
      newer: first && (newer ? isMore : older !== undefined) ? cursorOf(first) : undefined,
      older: last && (newer || isMore) ? cursorOf(last) : undefined,
    }
    return desk.show(context, runsPage({ runs, ...turns }, await desk.shell(context)))
  })

  app.get('/runs/:id', viewer, async (context) => {
    const id = context.req.param('id')
    const place = placeOf((name) => context.req.query(name))
    const connectors = ports.syncable().map(({ connector }) => connector)
    const options = { now: desk.now(), connectors, place, prices: desk.caps.prices }
    // A run that was begun just now, by whomever, is not called missing because the standby lacks it.
    let reading = await desk.read(context, (reads) => readRun(reads, id, options))
    if (!reading) {
      context.set('behindMs', undefined)
      reading = await readRun(db, id, options)
    }
    if (!reading) return missing(context, `Run ${id.slice(0, 40)} not found.`)
    return desk.show(context, runPage(reading, await desk.shell(context)))
  })

  app.get('/spend', viewer, async (context) => {
    const at = desk.now()
    const connectors = ports.syncable().map(({ connector }) => connector)
    const scopes = budgetScopes(at, [], connectors).map(({ scope }) => scope)
    const [days, totals, byConnector, byField, refused, money, reconciliation] = await desk.read(
      context,
      (reads) =>
        Promise.all([
          spendDays(reads, new Date(at.getTime() - (chartDays - 1) * dayMs), at),
          spendTotals(reads),
          spendBy(reads, 'connector'),
          spendBy(reads, 'field'),
          refusals(reads),
          moneyNow(reads, at, scopes),
          lastReconciliation(reads),
        ]),
    )
    const model = {
      days,
      totals,
      byConnector,
      byField,
      refusals: refused.slice(0, 50),
      budgets: budgetBars({ at, runs: [], money }, desk.caps, connectors),
      prices: desk.caps.prices,
      reconciliation,
      canReconcile: ports.reconcile !== undefined,
    }
    return desk.show(context, spendPage(model, await desk.shell(context)))
  })

  app.get('/settings', viewer, async (context) => {
    const [sections, schedules] = await Promise.all([ports.settings(), ports.schedules?.list()])
    return desk.show(context, settingsPage(sections, schedules, await desk.shell(context)))
  })

  app.get('/audit', desk.requires('operator'), async (context) => {
    const before = context.req.query('before')
    const isId = before !== undefined && /^\d{1,18}$/.test(before)
    const rows = await desk.audit.list(auditPerPage, isId ? BigInt(before) : undefined)
    const next = rows.length === auditPerPage ? rows.at(-1)?.id : undefined
    return desk.show(context, auditPage(rows, next, await desk.shell(context)))
  })

  async function missing(context: DeskContext, text: string): Promise<Response> {
    return desk.show(context, { title: 'Not found', lead: text, current: '', body: [] }, 404)
  }
}

/** The place of a run in the list, as it stands in an address: its time and its id. */
function cursorOf({ startedAt, id }: RunHead): string {
  return `${startedAt.getTime()}.${id}`
}

function runCursor(text: string | undefined): RunCursor | undefined {
  const match = /^(\d{1,14})\.([\w-]{1,100})$/.exec(text ?? '')
  return match ? { at: new Date(Number(match[1])), id: match[2] as string } : undefined
}
