import type { BadRequest } from '../http/request-body.ts'

/**
 * The monitor family, 40020 to 40035. Only the meaning of 40021 is known (service.md, 7); the others are the sandbox's own
 * choice. A client may show these numbers, but must not build on them.
 */
export const codes = {
  unknownMonitor: 40020,
  detectionModeFixed: 40021,
  name: 40022,
  status: 40023,
  signalTypes: 40024,
  webhookUrl: 40025,
  webhookRefused: 40026,
  detectionMode: 40027,
  companiesNeeded: 40028,
  companies: 40029,
  filters: 40030,
  webhookHeaders: 40031,
  noWebhook: 40032,
  notUnderstood: 40033,
} as const

export function refusal(
  code: (typeof codes)[keyof typeof codes],
  message: string,
  details: Record<string, unknown>,
): BadRequest {
  return { code, message, details }
}
