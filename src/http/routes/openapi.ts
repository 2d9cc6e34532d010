import { z } from 'zod'
import { openApiDocument } from '../server/openapi.ts'
import { anyone } from '../server/caller.ts'
import { route, type Route } from '../server/route.ts'

/** The contract of the interface, for programs. */
export function openApiRoute(
  routes: () => readonly Route[],
  info: { version: string; monitorHeader: string; url: string | undefined },
): Route {
  let document: string | undefined
  return route({
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This document',
    authenticator: anyone,
    answers: { 200: { description: 'OpenAPI 3.1', schema: z.record(z.string(), z.unknown()) } },
    async handle() {
      document ??= JSON.stringify(openApiDocument(routes(), info))
      return new Response(document, { headers: { 'content-type': 'application/json' } })
    },
  })
}
