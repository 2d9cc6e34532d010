import { timingSafeEqual } from 'node:crypto'
import { arrivalOf, type DeskAccess } from '../desk/access/access.ts'
import { refuse, type Authenticator } from '../server/caller.ts'

/** Authenticates by the metrics token; when none is set, only requests that the desk would accept as local. */
export function metricsAuthenticator({
  token,
  access,
}: {
  token: string | undefined
  access: DeskAccess
}): Authenticator {
  return {
    security: token === undefined && access.mode === 'open' ? [] : ['metricsToken'],
    async authenticate({ headers }) {
      if (token === undefined) {
        if (arrivalOf(access, headers, headers.get('host') ?? '') === 'local')
          return { kind: 'public', name: 'public' }
        throw refuse(
          'metrics_off',
          'set PAYDIRT_METRICS_TOKEN to read metrics from another machine, or when the desk has sign-in',
          403,
        )
      }
      const [, given = ''] = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '') ?? []
      const [a, b] = [Buffer.from(given), Buffer.from(token)]
      if (a.length !== b.length || !timingSafeEqual(a, b))
        throw refuse('metrics_token', 'send the metrics token as `Authorization: Bearer`')
      return { kind: 'public', name: 'metrics' }
    },
  }
}
