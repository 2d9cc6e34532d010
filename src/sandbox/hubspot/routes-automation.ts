import { Hono } from 'hono'
import { notFound, validationError } from './errors.ts'
import type { HubspotEnv } from './gate.ts'

/** Executions of custom workflow actions that a test has started. */
export interface HubspotWorkflows {
  /** Blocks an execution under this id, as an action that answers BLOCK does. */
  block(callbackId: string): void
  /** The completion of each execution. An execution that still waits is absent. */
  completed: ReadonlyMap<string, Record<string, unknown>>
}

/** The callback that completes a blocked execution: 204, or 404 for one that is not waiting. */
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
