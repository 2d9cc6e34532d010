import { createHash } from 'node:crypto'
import type { ApiTokenLedger, TokenScope } from '../../store/access/api-tokens.ts'
import { Problem } from '../server/problem.ts'
import { type Authenticator, type Caller, CallRefused, refuse } from '../server/caller.ts'

const minuteMs = 60_000

/** Lets in whoever brings a token with one of these scopes (`admin` has all), at the token's own rate. */
export function apiTokenAuthenticator(
  scopes: readonly TokenScope[],
  options: { tokens: ApiTokenLedger; now: () => Date },
): Authenticator {
  return {
    security: ['apiToken'],
    async authenticate({ headers }) {
      const text = /^Bearer +(pd_[\w-]+)$/i.exec(headers.get('authorization') ?? '')?.[1]
      if (text === undefined)
        throw unknown('token_missing', 'send `Authorization: Bearer pd_…` (`paydirt token create` makes one)')
      // The digest is looked up, not compared: its time tells nothing of the token.
      const entered = await options.tokens.enter(digestOf(text))
      if (!entered) throw unknown('token_unknown', 'the token is unknown or was revoked')
      const { token, calls } = entered
      if (!token.scopes.some((scope) => scope === 'admin' || scopes.includes(scope)))
        throw refuse('token_scope', `the token has not the scope ${scopes.join(' or ')}`, 403)
      if (calls > token.perMinute) {
        const leftMs = minuteMs - (options.now().getTime() % minuteMs)
        throw new CallRefused(429, 'token_rate', `the token may call ${token.perMinute} times a minute`, {
          headers: { 'retry-after': String(Math.ceil(leftMs / 1000)) },
        })
      }
      return { kind: 'token', name: `token:${token.id}`, token }
    },
  }
}

export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** A token that may only ask sees what was asked with it, by it first or later, and nothing else. */
export function assertMaySee(caller: Caller, made: { tokens: readonly string[] }): void {
  if (caller.kind !== 'token') return
  const { scopes, id } = caller.token
  if (scopes.includes('read') || scopes.includes('admin') || made.tokens.includes(id)) return
  throw new Problem(404, 'not_found', 'there is nothing of this name')
}

function unknown(code: string, detail: string): CallRefused {
  return new CallRefused(401, code, detail, { headers: { 'www-authenticate': 'Bearer realm="paydirt"' } })
}
