import { z } from 'zod'
import { problemSchema } from './problem.ts'
import type { AnswerSpec, Route } from './route.ts'

/** The problem responses of a route, by its traits. */
const refusals: { status: number; description: string; when: (route: Route) => boolean }[] = [
  { status: 400, description: 'The body is not valid JSON', when: (route) => route.body !== undefined },
  { status: 401, description: 'The caller is not authenticated', when: (route) => isGuarded(route) },
  { status: 403, description: 'The caller is not allowed to do this', when: (route) => isGuarded(route) },
  { status: 404, description: 'Not found, or not set up', when: () => true },
  { status: 413, description: 'The body is too large', when: (route) => route.method === 'post' },
  {
    status: 415,
    description: 'The content type of the body is not JSON',
    when: (route) => route.body !== undefined,
  },
  { status: 422, description: 'The input is invalid; `errors` says where', when: (route) => hasInput(route) },
  {
    status: 429,
    description: 'Too many requests; `Retry-After` says when to retry',
    when: (route) => isGuarded(route),
  },
  { status: 500, description: 'Internal error', when: () => true },
  { status: 503, description: 'Temporarily unavailable', when: () => true },
]

const securitySchemes = (monitorHeader: string) => ({
  metricsToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The metrics token (PAYDIRT_METRICS_TOKEN); when it is not set, only this machine can read metrics',
  },
  apiToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token (`paydirt token create`) with the scope enrich, read or admin',
  },
  hubspotSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-HubSpot-Signature-v3',
    description: 'With X-HubSpot-Request-Timestamp',
  },
  hubspotSignatureV2: {
    type: 'apiKey',
    in: 'header',
    name: 'X-HubSpot-Signature',
    description: 'With X-HubSpot-Signature-Version: v2, as workflow actions send it',
  },
  salesforceJwt: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A JWT signed with the org’s certificate (RS256), with the claims iss, aud, exp, jti and body_sha256',
  },
  salesforceHmac: {
    type: 'apiKey',
    in: 'header',
    name: 'x-paydirt-signature',
    description:
      'v1=<hex HMAC-SHA256 of timestamp.nonce.METHOD.path.body>, with x-paydirt-timestamp and x-paydirt-nonce',
  },
  monitorSecret: {
    type: 'apiKey',
    in: 'header',
    name: monitorHeader,
    description: 'The secret configured on the monitor (PAYDIRT_MONITOR_SECRET)',
  },
})

/** Returns the OpenAPI 3.1 document of these routes, generated from the schemas that validate their requests. */
export function openApiDocument(
  routes: readonly Route[],
  info: { version: string; monitorHeader: string; url?: string | undefined },
) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const each of routes) {
    paths[each.path] = { ...paths[each.path], [each.method]: operationOf(each) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Paydirt',
      version: info.version,
      description: 'Enriches CRM records, one paid lookup at a time.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: info.url === undefined ? undefined : [{ url: info.url }],
    paths,
    components: {
      securitySchemes: securitySchemes(info.monitorHeader),
      schemas: { Problem: schemaOf(problemSchema, 'output') },
    },
  }
}

function operationOf(each: Route) {
  const problems = refusals.filter(({ when, status }) => when(each) && !(status in each.answers))
  return {
    operationId: each.operationId,
    summary: each.summary,
    description: each.description,
    security: each.authenticator.security.map((scheme) => ({ [scheme]: [] })),
    parameters: [...parametersOf(each.params, 'path'), ...parametersOf(each.query, 'query')],
    requestBody: each.body && {
      required: true,
      content: { 'application/json': { schema: schemaOf(each.body, 'input') } },
    },
    responses: {
      ...Object.fromEntries(
        Object.entries(each.answers).map(([status, answer]) => [status, answerOf(answer)]),
      ),
      ...Object.fromEntries(
        problems.map(({ status, description }) => [
          String(status),
          {
            description,
            content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
          },
        ]),
      ),
    },
  }
}

function answerOf({ description, schema, contentType }: AnswerSpec) {
  if (!schema && contentType === undefined) return { description }
  const content = schema ? { schema: schemaOf(schema, 'output') } : {}
  return { description, content: { [contentType ?? 'application/json']: content } }
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query') {
  if (!schema) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Record<string, unknown>>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    description,
    schema: rest,
  }))
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
  })
  return rest
}

function isGuarded({ authenticator }: Route): boolean {
  return authenticator.security.length > 0
}

function hasInput({ body, query, params }: Route): boolean {
  return body !== undefined || query !== undefined || params !== undefined
}
