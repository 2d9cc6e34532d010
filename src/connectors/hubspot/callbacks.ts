import { z } from 'zod'
import type { CallBudget } from '../../domain/ports/call-budget.ts'
import type { HubspotLimits } from './api/account.ts'
import { openHubspotApi } from './api/open-api.ts'
import type { HubspotAuth } from './api/tokens.ts'

/** The output for a blocked execution of a workflow: texts and numbers by the names of the action's output fields. */
type WorkflowOutput = Record<string, string | number>

export interface HubspotCallbacks {
  /**
   * Resumes a blocked execution. Returns the code of HubSpot's refusal when the execution no longer waits, or never
   * did. Throws RetriableError for what passes with time, ConfigError for rights.
   */
  complete(callbackId: string, output: WorkflowOutput): Promise<{ refused: string } | undefined>
  close(): void
}

const callbackPath = (id: string) =>
  `/automation/actions/callbacks/2026-03/${encodeURIComponent(id)}/complete`

export function createHubspotCallbacks(options: {
  auth: HubspotAuth
  baseUrl?: string | undefined
  budget?: CallBudget
  limits?: HubspotLimits
}): HubspotCallbacks {
  const closing = new AbortController()
  const { api } = openHubspotApi({
    ...options,
    timeoutMs: 15_000,
    patienceMs: 10_000,
    now: Date.now,
    closing: closing.signal,
  })

  return {
    async complete(callbackId, output) {
      const answer = await api.call(z.unknown(), {
        method: 'POST',
        path: callbackPath(callbackId),
        body: callbackBody(output),
      })
      return answer.ok ? undefined : { refused: answer.refusal.category ?? `status ${answer.status}` }
    },
    close: () => closing.abort(new Error('the callbacks to HubSpot were closed')),
  }
}

/**
 * HubSpot takes every output field as a text, also that of a number, and wants `typedOutputs` beside them. It describes
 * that object as one without properties.
 */
function callbackBody(output: WorkflowOutput): {
  outputFields: Record<string, string>
  typedOutputs: object
} {
  const outputFields = Object.fromEntries(
    Object.entries(output).map(([name, value]) => [name, String(value)]),
  )
  return { outputFields, typedOutputs: {} }
}
