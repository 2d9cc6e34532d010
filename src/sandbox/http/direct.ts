import { API_KEY_HEADER, type Account, type Accounts } from '../accounts.ts'
import { bendAnswer } from '../faults/bend-answer.ts'
import { bendRequest } from '../faults/bend-request.ts'
import type { DirectOperation } from '../stats.ts'
import { creditBlock } from './account.ts'
import type { Answer } from './answer.ts'
import { atTheEdge } from './edge.ts'
import type { LookupContext } from './lookup.ts'
import { renameKeys } from './rename-keys.ts'
import type { BadRequest } from './request-body.ts'

/** A request with a known API key. Its text is not parsed as JSON yet. */
export interface DirectAsk {
  account: Account
  /** The values of the path's parameters. */
  parameters: Readonly<Record<string, string>>
  query: URLSearchParams
  text: string | null
  contentType: string | undefined
  /** The network's name in keys. */
  word: string
}

export type DirectAnswer =
  | { refused: BadRequest; status: 400 | 416 }
  | { data: unknown; ignoredFields: readonly string[] }
  /** An error that is no answer of the endpoint itself. */
  | { status: number; body: unknown }
  | 'drop'

/** One operation that needs an API key. `path` may have parameters: `/monitors/{monitor_id}`. */
export interface DirectEndpoint {
  name: DirectOperation
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  answer(ask: DirectAsk): DirectAnswer | Promise<DirectAnswer>
}

export interface DirectRequest {
  method: string
  url: URL
  body: string | null
  header(name: string): string | undefined
}

type Context = Pick<LookupContext, 'faults' | 'limiter' | 'stats' | 'networkName'> & { accounts: Accounts }

/** Returns a function that answers requests by a table of routes. It returns undefined for a path of no route. */
export function createDirectRoutes(endpoints: readonly DirectEndpoint[], context: Context) {
  const routes = endpoints.map((endpoint) => ({ endpoint, segments: endpoint.path.split('/') }))

  return async function answer(request: DirectRequest): Promise<Answer | undefined> {
    const found = routes
      .flatMap(({ endpoint, segments }) => {
        const parameters = parametersOf(segments, request.url.pathname)
        return parameters === null ? [] : [{ endpoint, parameters }]
      })
      // A path that is written out wins over one with parameters.
      .sort((a, b) => Object.keys(a.parameters).length - Object.keys(b.parameters).length)
    const path = found[0]?.endpoint.path
    if (path === undefined) return undefined
    const here = found.filter(({ endpoint }) => endpoint.path === path)
    const route = here.find(({ endpoint }) => endpoint.method === request.method)
    if (route === undefined) {
      const allow = here.map(({ endpoint }) => endpoint.method).join(', ')
      return { status: 405, headers: { allow }, body: { error: 'Method not allowed' } }
    }
    context.stats.request(route.endpoint.name)
    const refused = atTheEdge(
      context,
      { path: request.url.pathname, header: request.header },
      `${route.endpoint.name} ${request.url.pathname}`,
    )
    return refused ?? (await byKey(route.endpoint, route.parameters, request))
  }

  async function byKey(
    endpoint: DirectEndpoint,
    parameters: Record<string, string>,
    { url, body, header }: DirectRequest,
  ): Promise<Answer> {
    const account = context.accounts.find(header(API_KEY_HEADER) ?? '')
    if (account === undefined) return { status: 401, body: { error: 'Unknown API key' } }
    const { faults, networkName } = context
    const bent = bendRequest(faults.current, endpoint.name, body)
    const answered = await endpoint.answer({
      account,
      parameters,
      query: url.searchParams,
      text: bent.text,
      contentType: header('content-type'),
      word: networkName,
    })
    if (answered === 'drop') return 'drop'
    if ('refused' in answered) return { status: answered.status, body: answered.refused }
    if ('status' in answered) return answered
    account.take(endpoint.name, 0)
    const ignoredFields = [...bent.ignoredFields, ...answered.ignoredFields]
    const metadata = {
      ...creditBlock(account, 0),
      ...(ignoredFields.length > 0 && { ignored_fields: ignoredFields }),
      ...(bent.renamedFields.length > 0 && { renamed_fields: bent.renamedFields }),
    }
    const good = renameKeys({ data: answered.data, metadata }, networkName)
    return { status: 200, body: bendAnswer(faults, endpoint.name, endpoint.name, good) }
  }
}

/** Returns the values of a path's parameters; null for a path of another route. */
function parametersOf(segments: readonly string[], pathname: string): Record<string, string> | null {
  const given = pathname.split('/')
  if (given.length !== segments.length) return null
  const parameters: Record<string, string> = {}
  for (const [at, segment] of segments.entries()) {
    const name = /^\{(.+)\}$/.exec(segment)?.[1]
    if (name === undefined) {
      if (segment !== given[at]) return null
    } else {
      const value = decoded(given[at]!)
      if (value === null || value === '') return null
      parameters[name] = value
    }
  }
  return parameters
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
