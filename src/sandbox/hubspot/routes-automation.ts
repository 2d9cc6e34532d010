import { Hono } from 'hono'
import { z } from 'zod'
import { parseBody } from './answers.ts'
import type { HubspotAuth } from './auth.ts'
import { notFound } from './errors.ts'
import type { HubspotEnv } from './gate.ts'

/** Executions of custom workflow actions that a test has started. */
export interface HubspotWorkflows {
  /** Blocks an execution under this id, as an action that answers BLOCK does. */
  block(callbackId: string): void
  /** The completion of each execution. An execution that still waits is absent. */
  completed: ReadonlyMap<string, Readonly<Record<string, string>>>
}

/** Both members are required, and an output field is a text, whatever its type in the action's definition. */
const completionSchema = z.object({
  outputFields: z.record(z.string(), z.string()),
  typedOutputs: z.record(z.string(), z.unknown()),
})

/** The callback that completes a blocked execution: 204, or 404 for one that is not waiting. */
export function automationRoutes(auth: HubspotAuth): { app: Hono<HubspotEnv>; workflows: HubspotWorkflows } {
  const app = new Hono<HubspotEnv>()
  const blocked = new Set<string>()
  const completed = new Map<string, Readonly<Record<string, string>>>()
  app.post('/automation/actions/callbacks/2026-03/:id/complete', async (c) => {
    auth.require('automation')
    const id = c.req.param('id')
    if (!blocked.has(id)) throw notFound(`callback ${id} is not blocked`)
    const { outputFields } = parseBody(completionSchema, await c.req.text())
    blocked.delete(id)
    completed.set(id, outputFields)
    return c.body(null, 204)
  })
  return { app, workflows: { block: (id) => void blocked.add(id), completed } }
}
