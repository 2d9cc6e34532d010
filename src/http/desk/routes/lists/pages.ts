import type { Hono } from 'hono'
import { describeError, PaydirtError } from '../../../../domain/errors.ts'
import type { MatchedRecord } from '../../../../domain/lists/judged-row.ts'
import { funnels } from '../../../../store/views/desk-runs.ts'
import { Problem } from '../../../server/problem.ts'
import { mayAct } from '../../access/access.ts'
import type { DeskContext, DeskEnv } from '../../access/gate.ts'
import type { ListView, ListsPort } from '../../model/lists/lists-port.ts'
import { listsPage } from '../../pages/lists/all.ts'
import { listPage } from '../../pages/lists/list.ts'
import { listPlanPage } from '../../pages/lists/plan.ts'
import { mostAsked, reviewPage } from '../../pages/lists/review.ts'
import { mostRecords, urlKey } from '../../pages/lists/rows.ts'
import { readVerdict } from '../../pages/lists/verdicts.ts'
import { cost } from '../../view/format.ts'
import type { Desk } from '../desk.ts'
import { pageNumber, reloadSeconds } from '../form.ts'

type Status = 200 | 400 | 409

export interface ListPages {
  list(context: DeskContext, name: string, refused?: { text: string; status: Status }): Promise<Response>
  review(context: DeskContext, name: string, refused?: { text: string; status: Status }): Promise<Response>
  plan(context: DeskContext, name: string, refused?: { text: string; status: Status }): Promise<Response>
}

/** Adds the pages of lists, and returns those that an action shows again with the reason why it was refused. */
export function listPageRoutes(app: Hono<DeskEnv>, desk: Desk): ListPages {
  const viewer = desk.requires('viewer')

  async function existing(name: string): Promise<{ port: ListsPort; list: ListView }> {
    const port = desk.ports.lists
    const list = await port?.read(name)
    if (port && list) return { port, list }
    throw new Problem(404, 'no_such_list', `List ${name.slice(0, 40)} not found.`)
  }

  const pages: ListPages = {
    async list(context, name, refused) {
      const { port, list } = await existing(name)
      const verdict = readVerdict(context.req.query('verdict'))
      const rows =
        list.pages > 0 && list.problem === undefined
          ? await port.rows(name, { verdict, page: pageNumber(context) })
          : undefined
      const history = await port.history(name)
      const figures = await funnels(
        desk.db,
        history.runs.map(({ id }) => id),
      )
      const job = port.job(name)
      const isComparing = list.pages > 0 && list.problem === undefined && (!rows || !list.verdicts)
      if (!refused && ((job && !job.ended) || isComparing)) context.header('refresh', String(reloadSeconds))
      const detail = {
        list,
        rows,
        verdict,
        history,
        job,
        costs: new Map(
          [...figures].map(([id, { settledAtomic, creditsAtomic }]) => [
            id,
            cost(settledAtomic, creditsAtomic),
          ]),
        ),
        urls: await urlsOf(
          list.connector,
          rows?.rows.flatMap(({ records }) => records.slice(0, mostRecords)) ?? [],
        ),
        quote: isOperator(context) && list.problem === undefined ? await port.quote(name) : undefined,
        refused: refused?.text,
      }
      return desk.show(context, listPage(detail, await desk.shell(context)), refused?.status)
    },

    async review(context, name, refused) {
      const { port, list } = await existing(name)
      const waiting = await readable(() => port.waiting(name, pageNumber(context)))
      if (!waiting && !refused) context.header('refresh', String(reloadSeconds))
      const records = waiting?.rows.flatMap((each) => each.records.slice(0, mostAsked)) ?? []
      const urls = await urlsOf(list.connector, records)
      const detail = { list, waiting, urls, refused: refused?.text }
      return desk.show(context, reviewPage(detail, await desk.shell(context)), refused?.status)
    },

    async plan(context, name, refused) {
      const { port } = await existing(name)
      const plan = await port.plan(name, (context.req.param('id') ?? '').slice(0, 40))
      if (!plan) throw new Problem(404, 'no_such_plan', 'There is no such plan of this list.')
      const job = port.job(name)
      if (job && !job.ended && !refused) context.header('refresh', String(reloadSeconds))
      const detail = { plan, job, refused: refused?.text }
      return desk.show(context, listPlanPage(detail, await desk.shell(context)), refused?.status)
    },
  }

  app.get('/lists', viewer, async (context) => {
    const port = desk.ports.lists
    const lists: ListView[] = []
    for (const name of port?.names() ?? []) {
      const list = await port?.read(name)
      if (list) lists.push(list)
    }
    if (lists.some(({ verdicts }) => !verdicts)) context.header('refresh', String(reloadSeconds))
    return desk.show(context, listsPage(lists, await desk.shell(context)))
  })
  app.get('/lists/:name', viewer, (context) => pages.list(context, context.req.param('name')))
  app.get('/lists/:name/review', viewer, (context) => pages.review(context, context.req.param('name')))
  app.get('/lists/:name/plans/:id', viewer, (context) => pages.plan(context, context.req.param('name')))
  return pages

  async function urlsOf(connector: string, records: readonly MatchedRecord[]): Promise<Map<string, string>> {
    const urls = new Map<string, string>()
    for (const record of records) {
      const { entity, recordId: id } = record
      if (urls.has(urlKey(record))) continue
      const url = await desk.links.recordUrl({ connector, entity, id })
      if (url !== undefined) urls.set(urlKey(record), url)
    }
    return urls
  }
}

/** Settings that allow no search leave nothing to be shown; the list's page says why. */
async function readable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof PaydirtError)) throw error
    throw new Problem(409, error.code, describeError(error))
  }
}

function isOperator(context: DeskContext): boolean {
  const { role } = context.var.visitor
  return role !== undefined && mayAct(role, 'operator')
}
