import type { Hono } from 'hono'
import { mayAct } from './access/access.ts'
import type { DeskEnv } from './access/gate.ts'
import type { Desk } from './desk.ts'
import { boardPath, isBoardChange } from './queue-board.ts'

/**
 * The queues by bull-board. Its page sends no form token: what holds a change there is the gate's check of the Origin,
 * which browsers set themselves and always send with a change.
 */
export function boardRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const { board } = desk
  if (!board) return
  const viewer = desk.needs('viewer')
  const operator = desk.needs('operator')
  for (const path of [boardPath, `${boardPath}/*`]) {
    app.get(path, viewer, (context, next) => {
      const { role } = context.var.visitor
      return board(role !== undefined && mayAct(role, 'operator'))(context, next)
    })
    app.on(['POST', 'PUT', 'PATCH', 'DELETE'], path, operator, async (context, next) => {
      const { pathname } = new URL(context.req.url)
      if (!isBoardChange(pathname)) return context.text('This is not done from the board.', 403)
      const [, , , , queue, ...action] = pathname.split('/')
      await desk.note(context, 'queue.change', queue, {
        action: decodeURIComponent(action.join('/')).slice(0, 200),
      })
      return board(true)(context, next)
    })
  }
}
