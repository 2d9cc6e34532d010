import { createBullBoard } from '@bull-board/api'
import { HonoAdapter } from '@bull-board/hono'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono, type MiddlewareHandler } from 'hono'
import type { QueueBoard } from '../../../queues/board.ts'

/** What stands on the board's page of ours: the way back, and the kill switch. */
export type BoardBar = () => Promise<{ head: string; body: string }>

export const boardPath = '/queues'

/** What may be changed there. A job that is added or rewritten by hand is nobody's work: the ledger says what is due. */
const changes =
  /^\/queues\/api\/queues\/(pause|resume|[^/]+\/(pause|resume|promote|empty)|[^/]+\/(retry|clean)\/[a-z-]+|[^/]+\/[^/]+\/(retry|clean|promote))$/

/** Whether the board's own interface may do this. */
export function isBoardChange(path: string): boolean {
  return changes.test(path)
}

/** Bull-board, once for those who may act and once for those who may look. */
export function queueBoard(board: QueueBoard): (mayAct: boolean, bar: BoardBar) => MiddlewareHandler {
  const [forActing, forLooking] = [mount(false), mount(true)]
  return (mayAct, bar) => async (context) => {
    const answer = await (mayAct ? forActing : forLooking).fetch(context.req.raw)
    const isPage = answer.headers.get('content-type')?.includes('text/html')
    if (!isPage) return answer
    // The page of the board names its own address as the base of its links.
    const policy = context.res.headers.get('content-security-policy')
    if (policy)
      context.header('content-security-policy', policy.replace("base-uri 'none'", "base-uri 'self'"))
    const { head, body } = await bar()
    const page = ownAssetsOnly(await answer.text())
    return context.html(
      page.replace('</head>', () => `${head}</head>`).replace('</body>', () => `${body}</body>`),
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

/** Without the fonts of another host, and without the styles in its mark-up that our content policy refuses. */
function ownAssetsOnly(page: string): string {
  return page
    .replace(/<link[^>]+href="https?:\/\/[^>]*>/g, '')
    .replace(/<style>.*?<\/style>/gs, '')
    .replace(/(<[^>]*?)\sstyle="[^"]*"/g, '$1')
}
