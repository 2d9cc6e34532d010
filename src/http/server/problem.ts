import { z } from 'zod'

/** Where the input is wrong: a JSON pointer into the body, or the name of a parameter. */
export interface InputFault {
  pointer?: string
  parameter?: string
  detail: string
}

/** RFC 9457, with a word that programs can go by and the id under which the log knows the request. */
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
      .describe('Each place of the input that is wrong'),
  })
  .describe('What went wrong (RFC 9457)')

export type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 422 | 429 | 500 | 503

const titles: Record<ProblemStatus, string> = {
  400: 'The request cannot be read',
  401: 'Who calls is not known',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'The request took too long to arrive',
  409: 'Not possible now',
  413: 'Too large',
  415: 'Not JSON',
  422: 'The input is wrong',
  429: 'Too many requests',
  500: 'Something went wrong here',
  503: 'Not available now',
}

/** An answer that is a refusal. Nothing in it is personal data or of our insides. */
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

export function problemResponse(problem: Problem, requestId: string): Response {
  const { status, code, message: detail, errors, headers } = problem
  const document: z.infer<typeof problemSchema> = {
    type: `urn:paydirt:problem:${code}`,
    title: titles[status],
    status,
    detail,
    code,
    requestId,
    ...(errors ? { errors } : {}),
  }
  return new Response(JSON.stringify(document), {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
  })
}

/** The first twenty places at which a schema found the input wrong. */
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
