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
 * Sends one HTTP request and answers what came, whatever its status: never retries, never follows a redirect.
 * Throws RetriableError when no complete answer came.
 */
export type Send = (request: ServiceRequest) => Promise<ResponseHead>
