import { type Authenticator, refuse } from '../server/caller.ts'
import { checkDeliverySignature, type DeliverySignature } from './delivery-signature.ts'
import { equal } from './hubspot.ts'

interface MonitorAuthenticatorOptions {
  header: string
  secret: string | undefined
  /** Checked beside the secret header. */
  signature?: { settings: DeliverySignature; secret: string | undefined; now: () => Date } | undefined
}

/**
 * Authenticates a monitor's delivery by a secret header set on both sides, because its signature is not documented, and by the
 * signature where the settings describe one.
 */
export function monitorAuthenticator(options: MonitorAuthenticatorOptions): Authenticator {
  return {
    security: ['monitorSecret'],
    async authenticate(request) {
      const { header, secret, signature } = options
      if (secret === undefined)
        throw refuse('monitor_not_set_up', 'deliveries are not set up (PAYDIRT_MONITOR_SECRET)', 404)
      const given = request.headers.get(header)
      if (given === null) throw refuse('monitor_no_secret', 'the secret header is missing')
      if (!equal(given, secret)) throw refuse('monitor_wrong_secret', 'the secret is wrong')
      if (signature) checkDeliverySignature(request, signature.settings, signature)
      return { kind: 'system', name: 'monitor' }
    },
  }
}
