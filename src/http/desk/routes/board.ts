import type { Hono } from 'hono'
import { html } from 'hono/html'
import { mayAct } from '../access/access.ts'
import { Problem } from '../../server/problem.ts'
import type { DeskContext, DeskEnv } from '../access/gate.ts'
import type { Desk } from './desk.ts'
import { icon } from '../view/icons.ts'
import { spendingControl } from '../view/layout.ts'
import { boardPath, isBoardChange } from './queue-board.ts'

/**
 * The queues, shown by bull-board. Its page sends no CSRF token, so changes there rely on the gate's check of the Origin
 * header, which browsers set themselves and send with every change.
 */
export function boardRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { board } = desk
  if (!board) return
  const viewer = desk.requires('viewer')
  const operator = desk.requires('operator')
  for (const path of [boardPath, `${boardPath}/*`]) {
    app.get(path, viewer, (context, next) => {
      const { role } = context.var.visitor
      return board(role !== undefined && mayAct(role, 'operator'), () => barOf(context))(context, next)
    })
    app.on(['POST', 'PUT', 'PATCH', 'DELETE'], path, operator, async (context, next) => {
      const { pathname } = new URL(context.req.url)
      if (!isBoardChange(pathname)) throw new Problem(403, 'not_here', 'This action is disabled here.')
      const [, , , , queue, ...action] = pathname.split('/')
      await desk.recordAction(context, 'queue.change', queue, {
        action: decodeURIComponent(action.join('/')).slice(0, 200),
      })
      return board(true, () => barOf(context))(context, next)
    })
  }

  async function barOf(context: DeskContext): Promise<{ theme: string; head: string; body: string }> {
    const shell = await desk.shell(context)
    // Not deferred: the board reads its theme when its first script runs.
    const head = html`<link rel="stylesheet" href="${desk.asset('board.css')}" />
      <script src="${desk.asset('board.js')}"></script>
      <script src="${desk.asset('desk.js')}" defer></script>`
    const body = html`<aside class="desk-bar" aria-label="Desk">
      <a href="/">${icon('now')}<span>Back to the desk</span></a>
      <div id="spending">${spendingControl(shell)}</div>
    </aside>`
    return { theme: shell.visitor.theme, head: String(await head), body: String(await body) }
  }
}
