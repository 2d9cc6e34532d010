import { randomUUID } from 'node:crypto'

/** One refused property value, in HubSpot's form. */
export interface InvalidValue {
  readonly code: string
  readonly property: string
  readonly message: string
}

/** An error as the CRM API returns it: status, category, message, and the names in its context. */
export class HubspotError extends Error {
  readonly status: number
  readonly category: string
  readonly extra: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    category: string,
    message: string,
    extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
    this.name = 'HubspotError'
    this.status = status
    this.category = category
    this.extra = extra
  }
}

export function errorBody(error: HubspotError): Record<string, unknown> {
  return {
    status: 'error',
    message: error.message,
    correlationId: randomUUID(),
    ...error.extra,
    category: error.category,
  }
}

export function validationError(message: string, extra?: Readonly<Record<string, unknown>>): HubspotError {
  return new HubspotError(400, 'VALIDATION_ERROR', message, extra)
}

export function invalidValues(values: readonly InvalidValue[], portalId: number): HubspotError {
  const listed = values.map((value) => ({
    isValid: false,
    message: value.message,
    error: value.code,
    name: value.property,
    localizedErrorMessage: value.message,
    portalId,
  }))
  return validationError(`Property values were not valid: ${JSON.stringify(listed)}`, {
    errors: values.map((value) => ({
      message: value.message,
      code: value.code,
      context: { propertyName: [value.property] },
    })),
  })
}

export function notFound(message = 'resource not found', context?: Record<string, string[]>): HubspotError {
  return new HubspotError(404, 'OBJECT_NOT_FOUND', message, context ? { context } : {})
}

export type RatePolicy = 'DAILY' | 'TEN_SECONDLY_ROLLING' | 'SECONDLY'

/** 429s have no category: only the policy's name distinguishes them. */
export function rateLimitBody(policyName: RatePolicy): Record<string, unknown> {
  return {
    status: 'error',
    message: `You have reached your ${policyName.toLowerCase()} limit.`,
    errorType: 'RATE_LIMIT',
    correlationId: randomUUID(),
    policyName,
    requestId: randomUUID(),
  }
}
