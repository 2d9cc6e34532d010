import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, vi } from 'vitest'
import { hookAnswerSchema } from '../../src/http/routes/hook-answer.ts'

const app = join(import.meta.dirname, '../../crm/hubspot/src/app')

/** Imports a module of the HubSpot app. TypeScript does not see it, because the project's own settings exclude JSX. */
export function load<Module>(path: string): Promise<Module> {
  return import(pathToFileURL(join(app, path)).href) as Promise<Module>
}

/** A response of the server: a status and a body, or none at all. */
export type ServerResponse = [number, unknown] | 'no response'

/** Replaces HubSpot's `fetch` in each test: records the requests and returns the prepared responses in order. */
export function stubFetch(): {
  requests: { url: string; body: Record<string, unknown> }[]
  responses: ServerResponse[]
} {
  const server = {
    requests: [] as { url: string; body: Record<string, unknown> }[],
    responses: [] as ServerResponse[],
  }
  beforeEach(() => {
    server.requests = []
    server.responses = []
    vi.stubGlobal('self', {
      hsFetch: async (url: string, { body }: { body: Record<string, unknown> }) => {
        server.requests.push({ url, body })
        const next = server.responses.shift()
        if (!next || next === 'no response') throw new Error('Timeout')
        return Response.json(next[1], { status: next[0] })
      },
    })
  })
  afterEach(() => vi.unstubAllGlobals())
  return server
}

export const result = {
  taskId: 't1',
  runId: 'r1',
  status: 'written',
  reason: null,
  fields: [{ name: 'industry', label: 'Industry', value: 'Software' }],
  leftOut: [{ name: 'website', label: 'Website', why: 'filled', reason: 'filled already' }],
  costUsd: '0.010000',
  currency: 'USD',
  enrichedAt: '2026-11-02T09:00:00.000Z',
  done: true,
  last: null,
}
export const pending = {
  ...result,
  status: 'looking_up',
  fields: [],
  costUsd: '0.000000',
  done: false,
}
export const neverEnriched = { ...result, taskId: null, status: null, done: true, last: null }
/** The server's response without a task, limited to what its schema lets through. */
export const withLast = (last: object) => hookAnswerSchema.parse({ ...neverEnriched, last })
export const variables = { PAYDIRT_URL: 'https://paydirt.test/', PAYDIRT_RECIPES: 'profile, contact' }
