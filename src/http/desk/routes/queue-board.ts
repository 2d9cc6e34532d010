import { createBullBoard } from '@bull-board/api'
import { HonoAdapter } from '@bull-board/hono'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono, type MiddlewareHandler } from 'hono'
import type { QueueBoard } from '../../../queues/board.ts'

/** Our part of the board's page: the theme, the link back, and the kill switch. */
export type BoardBar = () => Promise<{ theme: string; head: string; body: string }>

export const boardPath = '/queues'

/** The changes that are allowed. Adding or editing jobs is not: the ledger decides what is due. */
const changes =
  /^\/queues\/api\/queues\/(pause|resume|[^/]+\/(pause|resume|promote|empty)|[^/]+\/(retry|clean)\/[a-z-]+|[^/]+\/[^/]+\/(retry|clean|promote))$/

/** Returns whether the board may make this change. */
export function isBoardChange(path: string): boolean {
  return changes.test(path)
}

/** Mounts bull-board twice: with its actions for operators, and read-only for viewers. */
export function queueBoard(board: QueueBoard): (mayAct: boolean, bar: BoardBar) => MiddlewareHandler {
  const [forOperators, forViewers] = [mount(false), mount(true)]
  return (mayAct, bar) => async (context) => {
    const answer = await (mayAct ? forOperators : forViewers).fetch(context.req.raw)
    const isPage = answer.headers.get('content-type')?.includes('text/html')
    if (!isPage) return answer
    // The page of the board sets a <base> for its links.
    const policy = context.res.headers.get('content-security-policy')
    if (policy)
      context.header('content-security-policy', policy.replace("base-uri 'none'", "base-uri 'self'"))
    const { theme, head, body } = await bar()
    const page = ownAssetsOnly(await answer.text())
    return context.html(
      page
        .replace('<html ', `<html data-theme="${theme}" `)
        .replace('</head>', () => `${head}</head>`)
        .replace('</body>', () => `${body}</body>`),
    )
  }

  function mount(readOnly: boolean): Hono {
    const server = new HonoAdapter(serveStatic)
    createBullBoard({
      queues: board.adapters({ readOnly }),
      serverAdapter: server,
      options: {
        uiConfig: {
          boardTitle: 'Paydirt queues',
          hideRedisDetails: true,
        },
      },
    })
    server.setBasePath(boardPath)
    return new Hono().route(boardPath, server.registerPlugin())
  }
}

/** Removes fonts from other hosts and inline styles, which our content security policy blocks. */
function ownAssetsOnly(page: string): string {
  return page
    .replace(/<link[^>]+href="https?:\/\/[^>]*>/g, '')
    .replace(/<style>.*?<\/style>/gs, '')
    .replace(/(<[^>]*?)\sstyle="[^"]*"/g, '$1')
}
