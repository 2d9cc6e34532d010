import { z } from 'zod'

/** An invalid place in the input: a JSON pointer into the body, or the name of a parameter. */
export interface InputFault {
  pointer?: string | undefined
  parameter?: string | undefined
  detail: string
}

/** RFC 9457, with a machine-readable code and the request id of the log entry. */
export const problemSchema = z
  .object({
    type: z.string().describe('urn:paydirt:problem:<code>'),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    code: z.string(),
    requestId: z.string(),
    errors: z
      .array(
        z.object({ pointer: z.string().optional(), parameter: z.string().optional(), detail: z.string() }),
      )
      .optional()
      .describe('Each invalid place in the input'),
  })
  .describe('A problem document (RFC 9457)')

export type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 422 | 429 | 500 | 503

const titles: Record<ProblemStatus, string> = {
  400: 'The request cannot be read',
  401: 'Not authenticated',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'The request took too long to arrive',
  409: 'Not possible now',
  413: 'Request too large',
  415: 'Unsupported media type',
  422: 'Invalid input',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Temporarily unavailable',
}

/** A refusal, sent to the caller as a problem document. Contains no personal data and no internals. */
export class Problem extends Error {
  readonly status: ProblemStatus
  readonly code: string
  readonly headers: Record<string, string>
  readonly errors: InputFault[] | undefined

  constructor(
    status: ProblemStatus,
    code: string,
    detail: string,
    options: { headers?: Record<string, string>; errors?: InputFault[] } = {},
  ) {
    super(detail)
    this.name = 'Problem'
    this.status = status
    this.code = code
    this.headers = options.headers ?? {}
    this.errors = options.errors
  }
}

/** Returns true for a browser that asks for a page, and false for a program: those name JSON first, or accept anything. */
export function prefersPage(headers: Headers): boolean {
  const types = (headers.get('accept') ?? '').split(',').map((type) => type.split(';')[0]?.trim())
  const [page, json] = [types.indexOf('text/html'), types.indexOf('application/json')]
  return page !== -1 && (json === -1 || page < json)
}

export function problemResponse(problem: Problem, requestId: string): Response {
  const { status, code, message: detail, errors, headers } = problem
  const document: z.infer<typeof problemSchema> = {
    type: `urn:paydirt:problem:${code}`,
    title: titles[status],
    status,
    detail,
    code,
    requestId,
    errors,
  }
  return new Response(JSON.stringify(document), {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
  })
}

/** Returns a 422 problem with the first twenty invalid places. */
export function inputProblem(error: z.ZodError, where: 'body' | 'query' | 'path'): Problem {
  const errors = error.issues.slice(0, 20).map((issue): InputFault => {
    const path = issue.path.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1'))
    return where === 'body'
      ? { pointer: path.map((part) => `/${part}`).join(''), detail: issue.message }
      : { parameter: path.join('.'), detail: issue.message }
  })
  const [first] = errors
  return new Problem(
    422,
    'invalid_input',
    `${first?.pointer || first?.parameter || 'the input'}: ${first?.detail}`,
    { errors },
  )
}
