import { z } from 'zod'
import { personSchema } from '../schema/person.ts'
import { decodeData, type Endpoint } from './endpoint.ts'

/** `POST /people/profnet/lookup` (service.md, 4.2): looks a person up by the profile URL. 0.01 USD. */
export const personProfile = {
  operation: 'person.profile',
  request: z.object({ profnet_url: z.url({ protocol: /^https?$/ }).regex(/\/(in|pub)\//) }),
  timeoutMs: 30_000,
  decode: decodeData(personSchema),
} satisfies Endpoint
