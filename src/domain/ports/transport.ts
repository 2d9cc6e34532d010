import type { ResponseHead } from '../payment.ts'

export interface ServiceRequest {
  method: 'GET' | 'POST'
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
