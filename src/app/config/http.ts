import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { DeliverySignature } from '../../http/callers/delivery-signature.ts'
import { ConfigError } from '../../domain/errors.ts'
import { described, setting } from '../../domain/setting.ts'
import type { Environment } from './environment.ts'

const headerName = z.string().regex(/^[A-Za-z0-9-]+$/, 'is not the name of a header')

/** The `http` of `paydirt.config.ts`. Secrets are only in the environment. */
export const httpSchema = z.strictObject({
  salesforce: z
    .strictObject({
      /** Calls that the org signs with its own certificate (External Credential, JWT). */
      jwt: z.strictObject({
        certificateFile: described(z.string().min(1), {
          means:
            'PEM file with the certificate, or its public key, by which the org signs [its calls](http.md)',
          example: '/etc/paydirt/org.pem',
        }),
        issuer: described(z.string().min(1), {
          means: "their `iss`: the org's My Domain",
          example: 'https://example.my.salesforce.com',
        }),
        audience: described(z.string().min(1).default('paydirt'), {
          means: 'their `aud`, as in the package in `crm/`',
          example: 'paydirt',
        }),
      }),
    })
    .optional(),
  /** Bounds from which background requests are refused, so that presses go on; 0: never for this. */
  shed: z
    .strictObject({
      databaseMs: setting(z.int().min(0).max(60_000), {
        means:
          'the slowest answer of the database from which [background requests](http.md#load-shed) are refused; 0: never',
        default: 3_000,
        example: 500,
      }),
      redisMs: setting(z.int().min(0).max(60_000), {
        means: 'the same for Redis',
        default: 2_000,
        example: 200,
      }),
      pressWaitSeconds: setting(z.int().min(0).max(3_600), {
        means: 'the longest that a press may have waited before background requests are refused; 0: never',
        default: 120,
        example: 30,
      }),
      holdSeconds: setting(z.int().min(1).max(600), {
        means: 'how long everything stays below half of its bound before background requests are taken again',
        default: 10,
        example: 30,
      }),
    })
    .optional(),
  monitor: z
    .strictObject({
      recipe: setting(z.string().min(1), {
        means: 'the recipe for records that a monitor names',
        defaultText: '`recipe`',
        example: 'contact',
      }).optional(),
      logsEveryMinutes: setting(z.int().min(0).max(1_440), {
        means:
          'the pause between two readings of the [logs](monitors.md#deliveries-that-were-missed) of the service, for deliveries that were missed; 0: none is read by `paydirt start`',
        default: 60,
        example: 15,
      }),
      signature: z
        .strictObject({
          header: described(headerName, {
            means: 'the header with the signature of a delivery; without it none is checked',
            example: 'x-signature',
          }),
          algorithm: described(z.enum(['sha256', 'sha512', 'sha1']).default('sha256'), {
            means: 'the hash of its HMAC',
            example: 'sha256',
          }),
          encoding: described(z.enum(['hex', 'base64']).default('hex'), {
            means: 'how it is written',
            example: 'hex',
          }),
          prefix: described(z.string().default(''), {
            means: 'stands before it in the header',
            example: 'sha256=',
          }),
          timestampHeader: described(headerName.optional(), {
            means:
              'the header with the time, which is signed too as `timestamp.body`; without it the body alone is signed',
            example: 'x-timestamp',
          }),
          toleranceSeconds: described(z.number().int().min(1).max(86_400).default(300), {
            means: 'the most that this time may be away from ours',
            example: 300,
          }),
        })
        .optional(),
    })
    .optional(),
})

export interface HttpConfig {
  /** Our public address, which callers sign. Undefined: the address in each request. */
  publicUrl: string | undefined
  /** The secret that the HubSpot app signs with. */
  hubspotSecret: string | undefined
  salesforceSecret: string | undefined
  salesforceJwt: { key: KeyObject; issuer: string; audience: string } | undefined
  /** Milliseconds; 0: never. */
  shed: { database: number; redis: number; presses: number; hold: number }
  monitorSecret: string | undefined
  monitorHeader: string
  monitorRecipe: string | undefined
  monitorSignature: DeliverySignature | undefined
  /** 0: the logs of monitors are not read by themselves. */
  monitorLogsEveryMs: number
  monitorSigningSecret: string | undefined
}

export function httpConfig(env: Environment, file: z.output<typeof httpSchema> = {}): HttpConfig {
  const jwt = file.salesforce?.jwt
  const toleranceSeconds = file.monitor?.signature?.toleranceSeconds
  if (toleranceSeconds !== undefined && env.PAYDIRT_MONITOR_SIGNING_SECRET === undefined)
    throw new ConfigError('bad_config', 'http.monitor.signature needs PAYDIRT_MONITOR_SIGNING_SECRET')
  return {
    publicUrl: env.PAYDIRT_PUBLIC_URL,
    hubspotSecret: env.HUBSPOT_CLIENT_SECRET,
    salesforceSecret: env.PAYDIRT_SALESFORCE_SECRET,
    salesforceJwt: jwt && {
      key: readCertificate(jwt.certificateFile),
      issuer: jwt.issuer,
      audience: jwt.audience,
    },
    shed: {
      database: file.shed?.databaseMs ?? 3_000,
      redis: file.shed?.redisMs ?? 2_000,
      presses: (file.shed?.pressWaitSeconds ?? 120) * 1_000,
      hold: (file.shed?.holdSeconds ?? 10) * 1_000,
    },
    monitorSecret: env.PAYDIRT_MONITOR_SECRET,
    monitorHeader: env.PAYDIRT_MONITOR_HEADER ?? 'x-paydirt-monitor-secret',
    monitorRecipe: file.monitor?.recipe,
    monitorLogsEveryMs: (file.monitor?.logsEveryMinutes ?? 60) * 60_000,
    monitorSigningSecret: env.PAYDIRT_MONITOR_SIGNING_SECRET,
    monitorSignature:
      file.monitor?.signature && toleranceSeconds !== undefined
        ? { ...file.monitor.signature, toleranceMs: toleranceSeconds * 1_000 }
        : undefined,
  }
}

function readCertificate(file: string): KeyObject {
  const setting = 'http.salesforce.jwt.certificateFile'
  let key: KeyObject
  try {
    key = createPublicKey(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new ConfigError('bad_config', `${setting}: ${file} has no certificate (PEM)`, { cause })
  }
  if (key.asymmetricKeyType === 'rsa') return key
  throw new ConfigError('bad_config', `${setting}: RS256 needs an RSA certificate`)
}
