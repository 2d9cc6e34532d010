import { z } from 'zod'
import { ofType } from './setting.ts'

/** An HTTPS URL, or http to this machine only: credentials and payments must not be readable on the way. */
export const httpsUrl = ofType(
  'HTTPS URL, or http to this machine',
  z.url({ error: 'is not a URL', abort: true }).refine(
    (text) => {
      const { protocol, hostname } = new URL(text)
      return (
        protocol === 'https:' ||
        (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
      )
    },
    { error: 'must be https (or http to this machine only)' },
  ),
)
