import type { Context } from 'hono'
import type { z } from 'zod'
import type { Authenticator, Caller } from './caller.ts'
import type { HttpEnv } from './request-id.ts'

/** A request that was let in, read and checked. */
export interface Call<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  caller: Caller
  /** As it came, for who has to read it in another way. */
  text: string
  requestId: string
  /** When it came, by `performance.now()`: what may be waited for is counted from there. */
  receivedMs: number
  /** Ends when the caller is gone, or the server stops. */
  signal: AbortSignal
  context: Context<HttpEnv>
}

export interface AnswerSpec {
  description: string
  schema?: z.ZodType
  /** Default `application/json`. */
  contentType?: string
}

/** One route: what it takes, who may call it, what it answers. The OpenAPI document is made of the same. */
export interface Route<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  method: 'get' | 'post'
  /** With `{name}` for a parameter. */
  path: string
  operationId: string
  summary: string
  description?: string
  authenticator: Authenticator
  params?: Params
  query?: Query
  /** Absent: the body is not read. */
  body?: Body
  /** The body may come under any content type. */
  anyContentType?: boolean
  /** Bytes. Default 64 kB. */
  bodyLimit?: number
  /** Answers by status; refusals are the same everywhere. */
  answers: Record<number, AnswerSpec>
  handle(call: Call<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<Response>
}

/** Keeps the schemas' types together while the route goes into a list of routes. */
export function route<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  definition: Route<Params, Query, Body>,
): Route {
  return definition as unknown as Route
}
