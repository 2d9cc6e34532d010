import { Hono } from 'hono'
import { notFound, validationError } from './errors.ts'
import type { HubspotEnv } from './gate.ts'

/** Executions of custom workflow actions that a test has begun. */
export interface HubspotWorkflows {
  /** Blocks an execution under this id, as an action that answers BLOCK does. */
  block(callbackId: string): void
  /** What each was completed with; an execution that still waits is not among them. */
  completed: ReadonlyMap<string, Record<string, unknown>>
}

/** The callback by which a blocked execution is completed: 204, and 404 for one that does not wait. */
export function automationRoutes(): { app: Hono<HubspotEnv>; workflows: HubspotWorkflows } {
  const app = new Hono<HubspotEnv>()
  const blocked = new Set<string>()
  const completed = new Map<string, Record<string, unknown>>()
  app.post('/automation/actions/callbacks/2026-03/:id/complete', async (c) => {
    const id = c.req.param('id')
    if (!blocked.has(id)) throw notFound(`callback ${id} is not blocked`)
    const body = (await c.req.json().catch(() => undefined)) as { outputFields?: unknown } | undefined
    const { outputFields } = body ?? {}
    if (typeof outputFields !== 'object' || outputFields === null)
      throw validationError('outputFields is required')
    blocked.delete(id)
    completed.set(id, outputFields as Record<string, unknown>)
    return c.body(null, 204)
  })
  return { app, workflows: { block: (id) => void blocked.add(id), completed } }
}
