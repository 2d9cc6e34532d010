import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import type { Environment } from './environment.ts'

/** The `http` of `paydirt.config.ts`. Secrets are only in the environment. */
export const httpSchema = z.strictObject({
  salesforce: z
    .strictObject({
      /** Calls that the org signs with its own certificate (External Credential, JWT). */
      jwt: z.strictObject({
        /** A PEM file with the certificate, or with its public key. */
        certificateFile: z.string().min(1),
        /** Its `iss`: the org's My Domain, `https://example.my.salesforce.com`. */
        issuer: z.string().min(1),
        /** Its `aud`. Default: the one in the package in `crm/`. */
        audience: z.string().min(1).default('paydirt'),
      }),
    })
    .optional(),
  monitor: z
    .strictObject({
      /** The recipe for records that a monitor names. Default: the one of a run. */
      recipe: z.string().min(1).optional(),
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
  monitorSecret: string | undefined
  monitorHeader: string
  monitorRecipe: string | undefined
}

export function httpConfig(env: Environment, file: z.output<typeof httpSchema> = {}): HttpConfig {
  const jwt = file.salesforce?.jwt
  return {
    publicUrl: env.PAYDIRT_PUBLIC_URL,
    hubspotSecret: env.HUBSPOT_CLIENT_SECRET,
    salesforceSecret: env.PAYDIRT_SALESFORCE_SECRET,
    salesforceJwt: jwt && {
      key: readCertificate(jwt.certificateFile),
      issuer: jwt.issuer,
      audience: jwt.audience,
    },
    monitorSecret: env.PAYDIRT_MONITOR_SECRET,
    monitorHeader: env.PAYDIRT_MONITOR_HEADER ?? 'x-paydirt-monitor-secret',
    monitorRecipe: file.monitor?.recipe,
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
