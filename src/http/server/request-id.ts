import { randomUUID } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import type { MiddlewareHandler } from 'hono'

export interface HttpEnv {
  Bindings: Partial<HttpBindings>
  Variables: { requestId: string; route: string; caller: string }
}

const wellFormed = /^[A-Za-z0-9._-]{8,64}$/

/** Gives every request an id: the caller's own if it is well-formed, so that logs can be correlated. */
export function requestIds(): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const given = context.req.header('x-request-id')
    const id = given !== undefined && wellFormed.test(given) ? given : randomUUID()
    context.set('requestId', id)
    await next()
    context.res.headers.set('x-request-id', id)
  }
}
