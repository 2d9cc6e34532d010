import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { ConfigError, RetriableError } from '../../../domain/errors.ts'
import { NoAnswerError, type SalesforceTransport, type WireResponse } from './transport.ts'

export type SalesforceAuth =
  | { kind: 'client_credentials'; clientId: string; clientSecret: string }
  | {
      kind: 'jwt_bearer'
      clientId: string
      username: string
      /** PEM of the RSA key whose certificate is in the Salesforce app. */
      privateKeyPem: string
    }

export interface Session {
  accessToken: string
  /** The address of the org's data API; not always the login address. */
  instanceUrl: string
  orgId: string
  userId: string
}

export interface LoginOptions {
  /** The org's My Domain: tokens are requested there, and it is the audience of a JWT. */
  loginUrl: string
  auth: SalesforceAuth
  now: () => number
}

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** Salesforce accepts an assertion that is valid for at most five minutes; clocks may differ by two of them. */
const assertionSeconds = 180

/**
 * Logs in without a browser. Throws ConfigError for credentials that are refused, RetriableError when the token endpoint
 * does not answer.
 */
export function createLogin(options: LoginOptions): (transport: SalesforceTransport) => Promise<Session> {
  const { auth, now } = options
  const loginUrl = options.loginUrl.replace(/\/+$/, '')
  const key = auth.kind === 'jwt_bearer' ? readKey(auth.privateKeyPem) : undefined

  function form(): Record<string, string> {
    if (auth.kind === 'client_credentials') {
      const { clientId, clientSecret } = auth
      return { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    }
    const claims = {
      iss: auth.clientId,
      sub: auth.username,
      aud: loginUrl,
      exp: Math.floor(now() / 1000) + assertionSeconds,
    }
    return { grant_type: jwtBearer, assertion: signAssertion(claims, key as KeyObject) }
  }

  return async (transport) => {
    let response: WireResponse
    try {
      response = await transport.send({
        method: 'POST',
        url: `${loginUrl}/services/oauth2/token`,
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: new URLSearchParams(form()).toString(),
      })
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
      throw new RetriableError('salesforce_unreachable', error.message, { cause: error })
    }
    return readSession(response, loginUrl)
  }
}

/** A JSON Web Token signed with RS256 (RFC 7519, RFC 7515). */
export function signAssertion(claims: Record<string, string | number>, key: KeyObject): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`
}

function readSession({ statusCode, body }: WireResponse, loginUrl: string): Session {
  const answer = parse(body)
  const text = (name: string): string | undefined =>
    typeof answer[name] === 'string' ? answer[name] : undefined
  if (statusCode !== 200) throw refusal(statusCode, text('error'), text('error_description'), loginUrl)
  const [orgId, userId] = (text('id') ?? '').split('/').slice(-2)
  const accessToken = text('access_token')
  const instanceUrl = text('instance_url')
  if (!accessToken || !instanceUrl || !orgId || !userId) {
    throw new ConfigError(
      'salesforce_login_refused',
      `${loginUrl} did not answer as Salesforce does: is it your My Domain?`,
    )
  }
  return { accessToken, instanceUrl: instanceUrl.replace(/\/+$/, ''), orgId, userId }
}

function refusal(
  status: number,
  error: string | undefined,
  description: string | undefined,
  loginUrl: string,
): Error {
  if (status >= 500 || status === 429 || error === 'server_error' || error === 'temporarily_unavailable') {
    return new RetriableError('salesforce_unreachable', `the login of ${loginUrl} answered ${status}`, {
      details: { status, error },
    })
  }
  const what = error ? `${error}${description ? `: ${description}` : ''}` : `status ${status}`
  const todo = whatToDoAbout(error, description) ?? 'see the login history of the integration user'
  return new ConfigError('salesforce_login_refused', `Salesforce refused the login (${what}); ${todo}`, {
    details: { status, error },
  })
}

/** One code stands for several mistakes, which only the description tells apart. */
function whatToDoAbout(error: string | undefined, description = ''): string | undefined {
  if (/not supported on this domain/i.test(description))
    return 'set SALESFORCE_LOGIN_URL to the org’s My Domain (Setup, My Domain: https://your-company.my.salesforce.com), not login.salesforce.com or test.salesforce.com'
  if (/no client credentials user/i.test(description))
    return 'name a run-as user in the policies of the app, under the client credentials flow'
  return error === undefined ? undefined : whatToDo[error]
}

const whatToDo: Readonly<Record<string, string>> = {
  invalid_client_id: 'check SALESFORCE_CLIENT_ID',
  invalid_client: 'check SALESFORCE_CLIENT_ID and SALESFORCE_CLIENT_SECRET',
  invalid_grant:
    'check the user, that the app is approved for it in advance, and the key whose certificate the app holds',
  invalid_app_access: 'let the integration user use the app (permission set or profile)',
  unsupported_grant_type: 'switch the flow on in the settings of the app',
  inactive_user: 'activate the integration user',
  inactive_org: 'the org is locked or closed',
}

function readKey(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch (error) {
    throw new ConfigError('salesforce_key_unreadable', 'the private key for Salesforce is not a PEM key', {
      cause: error,
    })
  }
  if (key.asymmetricKeyType === 'rsa') return key
  throw new ConfigError('salesforce_key_unreadable', 'the private key for Salesforce has to be an RSA key')
}

function parse(body: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(body)
    return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
