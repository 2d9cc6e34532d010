import { createHash } from 'node:crypto'
import type { ApiTokenLedger, TokenScope } from '../../store/access/api-tokens.ts'
import { Problem } from '../server/problem.ts'
import { type Authenticator, type Caller, CallRefused, refuse } from '../server/caller.ts'

const minuteMs = 60_000

/** Authenticates a token that has one of these scopes (`admin` includes all), within the token's rate limit. */
export function apiTokenAuthenticator(
  scopes: readonly TokenScope[],
  options: { tokens: ApiTokenLedger; now: () => Date },
): Authenticator {
  return {
    security: ['apiToken'],
    async authenticate({ headers }) {
      const text = /^Bearer +(pd_[\w-]+)$/i.exec(headers.get('authorization') ?? '')?.[1]
      if (text === undefined)
        throw unknown(
          'token_missing',
          'send `Authorization: Bearer pd_…` (`paydirt token create` prints one)',
        )
      // The digest is looked up, not compared, so the timing reveals nothing about the token.
      const entered = await options.tokens.enter(digestOf(text))
      if (!entered) throw unknown('token_unknown', 'the token is unknown or was revoked')
      const { token, calls } = entered
      if (!token.scopes.some((scope) => scope === 'admin' || scopes.includes(scope)))
        throw refuse('token_scope', `the token lacks the scope ${scopes.join(' or ')}`, 403)
      if (calls > token.perMinute) {
        const leftMs = minuteMs - (options.now().getTime() % minuteMs)
        throw new CallRefused(
          429,
          'token_rate',
          `the token is limited to ${token.perMinute} requests per minute`,
          {
            headers: { 'retry-after': String(Math.ceil(leftMs / 1000)) },
          },
        )
      }
      return { kind: 'token', name: `token:${token.id}`, token }
    },
  }
}

export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Throws 404 for a token with scope `enrich` alone unless the run or task was requested with this token. */
export function assertMaySee(caller: Caller, made: { tokens: readonly string[] }): void {
  if (caller.kind !== 'token') return
  const { scopes, id } = caller.token
  if (scopes.includes('read') || scopes.includes('admin') || made.tokens.includes(id)) return
  throw new Problem(404, 'not_found', 'not found')
}

function unknown(code: string, detail: string): CallRefused {
  return new CallRefused(401, code, detail, { headers: { 'www-authenticate': 'Bearer realm="paydirt"' } })
}
