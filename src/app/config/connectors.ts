import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import type { HubspotAuth } from '../../connectors/hubspot/index.ts'
import type { SalesforceAuth } from '../../connectors/salesforce/index.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { fileSchema } from './config.ts'
import type { Environment } from './environment.ts'

type FileConnectors = NonNullable<z.output<typeof fileSchema>['connectors']>
type HubspotFile = NonNullable<FileConnectors['hubspot']>
type SalesforceFile = NonNullable<FileConnectors['salesforce']>

export interface HubspotConfig extends HubspotFile {
  auth: HubspotAuth
  baseUrl: string | undefined
}

export interface SalesforceConfig extends SalesforceFile {
  auth: SalesforceAuth
  loginUrl: string
}

/** A private app's token, or the three parts of OAuth. Undefined when neither is set. */
export function hubspotConfig(env: Environment, file: HubspotFile): HubspotConfig | undefined {
  const shared = { ...file, baseUrl: env.HUBSPOT_BASE_URL }
  if (env.HUBSPOT_ACCESS_TOKEN !== undefined)
    return { ...shared, auth: { accessToken: env.HUBSPOT_ACCESS_TOKEN } }
  const {
    HUBSPOT_CLIENT_ID: clientId,
    HUBSPOT_CLIENT_SECRET: clientSecret,
    HUBSPOT_REFRESH_TOKEN: refreshToken,
  } = env
  if (refreshToken === undefined) return undefined
  if (clientId === undefined || clientSecret === undefined) {
    throw new ConfigError(
      'bad_environment',
      'HUBSPOT_REFRESH_TOKEN needs HUBSPOT_CLIENT_ID and HUBSPOT_CLIENT_SECRET beside it',
    )
  }
  return { ...shared, auth: { oauth: { clientId, clientSecret, refreshToken } } }
}

/** Client credentials, or a user and the key that signs for it. Undefined when no login address is set. */
export function salesforceConfig(env: Environment, file: SalesforceFile): SalesforceConfig | undefined {
  const { SALESFORCE_LOGIN_URL: loginUrl, SALESFORCE_CLIENT_ID: clientId } = env
  if (loginUrl === undefined) return undefined
  if (clientId === undefined)
    throw new ConfigError('bad_environment', 'SALESFORCE_LOGIN_URL needs SALESFORCE_CLIENT_ID beside it')
  const shared = { ...file, loginUrl }
  if (env.SALESFORCE_CLIENT_SECRET !== undefined) {
    return {
      ...shared,
      auth: { kind: 'client_credentials', clientId, clientSecret: env.SALESFORCE_CLIENT_SECRET },
    }
  }
  const { SALESFORCE_USERNAME: username, SALESFORCE_JWT_KEY_FILE: keyFile } = env
  if (username === undefined || keyFile === undefined) {
    throw new ConfigError(
      'bad_environment',
      'Salesforce needs SALESFORCE_CLIENT_SECRET, or SALESFORCE_USERNAME and SALESFORCE_JWT_KEY_FILE',
    )
  }
  return { ...shared, auth: { kind: 'jwt_bearer', clientId, username, privateKeyPem: readKey(keyFile) } }
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError('bad_environment', `SALESFORCE_JWT_KEY_FILE: ${file} cannot be read`, {
      cause: error,
    })
  }
}
