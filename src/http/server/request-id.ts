import { randomUUID } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import type { MiddlewareHandler } from 'hono'

export interface HttpEnv {
  Bindings: Partial<HttpBindings>
  Variables: { requestId: string; route: string; caller: string }
}

const sane = /^[A-Za-z0-9._-]{8,64}$/

/** Every request has an id: the caller's own where it is a plain word, so that two logs can be laid side by side. */
export function requestIds(): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const given = context.req.header('x-request-id')
    const id = given !== undefined && sane.test(given) ? given : randomUUID()
    context.set('requestId', id)
    await next()
    context.res.headers.set('x-request-id', id)
  }
}
