import type { ApiToken } from '../../store/access/api-tokens.ts'
import { Problem } from './problem.ts'

/** An authenticated caller. `name` may be logged: it names a system or a token, never a person. */
export type Caller =
  | { kind: 'public'; name: string }
  | { kind: 'token'; name: string; token: ApiToken }
  | {
      kind: 'system'
      name: 'hubspot' | 'salesforce' | 'monitor'
      /** Called when the response was a fault of ours, so that the caller can retry with the same signature. */
      releaseNonce?: () => Promise<void>
    }

/** Decides who may call a route, before the body is parsed. */
export interface Authenticator {
  /** The OpenAPI security schemes, of which one suffices. Empty: the route is public. */
  security: readonly string[]
  /** Throws `CallRefused`. */
  authenticate(request: AuthenticationRequest): Promise<Caller>
}

export interface AuthenticationRequest {
  method: string
  /** The URI as the caller sent it: scheme, host, path and query, before any decoding. */
  uri: string
  headers: Headers
  body: string
}

/** A refused call, counted under its code. */
export class CallRefused extends Problem {}

export function refuse(code: string, detail: string, status: 401 | 403 | 404 = 401): CallRefused {
  return new CallRefused(status, code, detail)
}

/** For public routes. */
export const anyone: Authenticator = {
  security: [],
  authenticate: async () => ({ kind: 'public', name: 'public' }),
}
