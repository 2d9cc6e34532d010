import type { Context } from 'hono'
import type { z } from 'zod'
import type { Authenticator, Caller } from './caller.ts'
import type { HttpEnv } from './request-id.ts'

/** An authenticated request with validated input. */
export interface Call<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  caller: Caller
  /** The raw body, for a handler that stores it or parses it itself. */
  text: string
  requestId: string
  /** The arrival by `performance.now()`; waiting times count from here. */
  receivedMs: number
  /** Aborts when the caller disconnects or the server stops. */
  signal: AbortSignal
  context: Context<HttpEnv>
}

export interface AnswerSpec {
  description: string
  schema?: z.ZodType | undefined
  /** Default `application/json`. */
  contentType?: string | undefined
}

/** One route: its input, its callers and its responses. The OpenAPI document is generated from it. */
export interface Route<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  method: 'get' | 'post'
  /** Parameters are written `{name}`. */
  path: string
  operationId: string
  summary: string
  description?: string | undefined
  authenticator: Authenticator
  /** Called before anything is read from the ledger. Throws a problem for a request that is not taken now. */
  admit?: ((query: Record<string, string>) => void) | undefined
  params?: Params | undefined
  query?: Query | undefined
  /** Absent: the body is not read. */
  body?: Body | undefined
  /** Accepts the body under any content type. */
  anyContentType?: boolean | undefined
  /** Bytes. Default 64 kB. */
  bodyLimit?: number | undefined
  /** Called with the body of an authenticated request that is refused because it is not JSON or not as the schema says. */
  onUnreadable?: ((text: string, reason: string) => Promise<void>) | undefined
  /** Responses by status; the problem responses are the same for every route. */
  answers: Record<number, AnswerSpec>
  handle(call: Call<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<Response>
}

/** Checks the handler against the schemas and erases their types, so that routes fit into one list. */
export function route<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  definition: Route<Params, Query, Body>,
): Route {
  return definition as unknown as Route
}
