import type { ResponseHead } from '../payment.ts'

export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type HttpMethod = (typeof httpMethods)[number]

export interface ServiceRequest {
  method: HttpMethod
  /** Absolute URL. */
  url: string
  body?: string
  headers?: Record<string, string>
  timeoutMs: number
  signal?: AbortSignal
}

/**
 * Sends one HTTP request and returns the response with any status. Never retries and never follows a redirect. Throws
 * RetriableError when no complete response arrived.
 */
export type Send = (request: ServiceRequest) => Promise<ResponseHead>
