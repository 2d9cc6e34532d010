import { type Authenticator, refuse } from '../server/caller.ts'
import { equal } from './hubspot.ts'

/** Authenticates a monitor's delivery by a secret header set on both sides, because its signature is not documented. */
export function monitorAuthenticator(options: { header: string; secret: string | undefined }): Authenticator {
  return {
    security: ['monitorSecret'],
    async authenticate({ headers }) {
      const { header, secret } = options
      if (secret === undefined)
        throw refuse('monitor_not_set_up', 'deliveries are not set up (PAYDIRT_MONITOR_SECRET)', 404)
      const given = headers.get(header)
      if (given === null) throw refuse('monitor_no_secret', 'the secret header is missing')
      if (!equal(given, secret)) throw refuse('monitor_wrong_secret', 'the secret is wrong')
      return { kind: 'system', name: 'monitor' }
    },
  }
}
