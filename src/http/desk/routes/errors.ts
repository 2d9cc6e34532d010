import type { Hono } from 'hono'
import { isAway } from '../../../store/database/retry-while-away.ts'
import { prefersPage, Problem, problemResponse } from '../../server/problem.ts'
import { setSecurityHeaders, type DeskContext, type DeskEnv, type Visitor } from '../access/gate.ts'
import { errorPage } from '../view/error-page.ts'
import { createPrompt } from '../model/readings.ts'
import { StoreAwayError } from '../model/store-watch.ts'
import type { Shell } from '../view/layout.ts'
import type { Desk } from './desk.ts'

/** The longest that an error page waits for what its frame shows. */
const frameMs = 500

const stranger: Visitor = {
  user: undefined,
  role: undefined,
  csrf: '',
  address: '',
  isSecure: false,
  hasSession: false,
  theme: 'auto',
}

/** Answers every error of the desk: with a page for a browser, and with a problem document for a program. */
export function errorRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  app.onError(async (error, context) => {
    const problem = problemOf(error)
    // A refusal is expected; the rest is for the log.
    if (!(error instanceof Problem) || error.code === 'timeout') desk.onError(error)
    setSecurityHeaders(context)
    for (const [name, value] of Object.entries(problem.headers)) context.header(name, value)
    const requestId = String((context as { get(name: string): unknown }).get('requestId') ?? 'unknown')
    if (!prefersPage(context.req.raw.headers))
      return withHeaders(context, problemResponse(problem, requestId))
    const visitor = (context.get('visitor') as Visitor | undefined) ?? stranger
    const shell = visitor.role === undefined ? undefined : await frameOf(context)
    const bare = { visitor, asset: desk.asset }
    return context.html(await errorPage(problem, { shell, bare, requestId }), problem.status)
  })

  async function frameOf(context: DeskContext): Promise<Shell | undefined> {
    try {
      return await createPrompt(() => desk.shell(context), frameMs)()
    } catch {
      return undefined
    }
  }
}

/** Called after all routes: what is left is a path without a page, or a page asked for by another method. */
export function remainingRoutes(app: Hono<DeskEnv>): void {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue
    methods.set(path, (methods.get(path) ?? new Set()).add(method))
  }
  for (const [path, allowed] of methods) {
    const names = [...allowed, ...(allowed.has('GET') ? ['HEAD'] : [])].sort().join(', ')
    app.all(path, () => {
      throw new Problem(405, 'method_not_allowed', `This address takes ${names}. Open it from the desk.`, {
        headers: { allow: names },
      })
    })
  }
  app.use('*', async (context, next) => {
    if (!prefersPage(context.req.raw.headers)) return next()
    throw new Problem(404, 'no_such_page', 'There is no page at this address.')
  })
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem)
    return error.code === 'timeout'
      ? new Problem(503, 'timeout', 'This took too long. Try again in a moment.')
      : error
  if (error instanceof StoreAwayError || isAway(error)) return storeAway()
  return new Problem(500, 'internal', 'The log has the details under the number of this request.')
}

function storeAway(): Problem {
  return new Problem(
    503,
    'database_away',
    'The database (DATABASE_URL) does not respond, so there is nothing to show. Nothing is bought meanwhile, and no paid answer is lost.',
  )
}

/** The headers that the gate has set stay. */
async function withHeaders(context: DeskContext, response: Response): Promise<Response> {
  for (const [name, value] of response.headers) context.header(name, value)
  return context.body(await response.text(), response.status as 500)
}
