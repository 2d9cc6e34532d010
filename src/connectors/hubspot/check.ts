import { z } from 'zod'
import { ConfigError, PaydirtError, RetriableError } from '../../domain/errors.ts'
import { checkMapping, fieldLeftOut, type CrmMapping } from '../../domain/mapping/mapping.ts'
import type { ConnectorCheck, ConnectorProblem } from '../connector.ts'
import type { HubspotApi } from './api/client.ts'
import { valueRules } from './value-rules.ts'
import type { RequiredRule } from './required.ts'
import { entityMapping, type HubspotProperties } from './properties.ts'
import { accountSchema, apiVersion, pageSchema, paths, tokenInfoSchema } from './api/wire.ts'

/**
 * Checks everything that a sync needs, one after the other, and collects the problems instead of stopping at the first.
 */
export async function check(deps: {
  api: HubspotApi
  properties: HubspotProperties
  mapping: CrmMapping
  declared: Readonly<Record<string, readonly RequiredRule[]>>
  /** Default: all of the mapping. */
  entities?: readonly string[] | undefined
  /** A private app's token, whose scopes can be read. */
  accessToken?: string
}): Promise<ConnectorCheck> {
  const { api, properties, mapping, declared, accessToken } = deps
  const problems: ConnectorProblem[] = []
  const missingScopes = new Set<string>()
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof PaydirtError)) throw error
      const scopes = error.code === 'hubspot_missing_scopes' ? String(error.details['scopes']).split(' ') : []
      const isNew = scopes.length === 0 || scopes.some((scope) => !missingScopes.has(scope))
      for (const scope of scopes) missingScopes.add(scope)
      if (isNew && !problems.some(({ code, message }) => code === error.code && message === error.message))
        problems.push(problemOf(error))
      return undefined
    }
  }

  const details = await attempt(() => api.need(accountSchema, { method: 'GET', path: paths.account }))
  const account = details
    ? { id: details.portalId, ...(details.timeZone === undefined ? {} : { timeZone: details.timeZone }) }
    : null
  // With a refused token every further call fails in the same way.
  if (!details && problems.some(({ code }) => !code.startsWith('hubspot_forbidden')))
    return { account, apiVersion, missingScopes: [], problems }

  for (const entity of deps.entities ?? Object.keys(mapping.entities)) {
    await attempt(() =>
      api.need(pageSchema, { method: 'GET', path: paths.objects(entity), query: { limit: '1' } }),
    )
    // An empty update: HubSpot checks rights before content, so a refusal of the content proves the right.
    await attempt(() =>
      api.call(z.unknown(), { method: 'POST', path: paths.batchUpdate(entity), body: { inputs: [] } }),
    )
    const described = await attempt(() => properties.describe(entity))
    if (!described) continue
    for (const problem of checkMapping(entityMapping(mapping, entity), described)) {
      problems.push({
        code: problem.optional ? fieldLeftOut : problem.code,
        message: `mapping.${entity}.${problem.message}${problem.optional ? '; it is left out' : ''}`,
        todo: problem.optional
          ? 'Optional: set another property in paydirt.config.ts, or `false`.'
          : 'Set another property in paydirt.config.ts, or `false` to leave the field out.',
      })
    }
    problems.push(...(await valueRules({ api, mapping }, entity, described, declared[entity] ?? [])))
    const missing = await properties.missing(entity)
    if (missing.length === 0) continue
    // The only right that cannot be tested without creating something.
    const scope = `crm.schemas.${entity}.write`
    const granted = await grantedScopes(api, accessToken)
    if (granted && !granted.includes(scope)) missingScopes.add(scope)
    problems.push({
      code: 'own_fields_missing',
      message: `${entity} lack the properties ${missing.join(', ')}`,
      todo: missingScopes.has(scope)
        ? `Add the scope ${scope} to the app: the next \`paydirt sync hubspot\` then creates them. Or create them by hand.`
        : 'The next `paydirt sync hubspot` creates them. Or create them by hand.',
      fields: missing.map((name) => `${entity}.${name}`),
    })
  }
  return { account, apiVersion, missingScopes: [...missingScopes].sort(), problems }
}

/** Returns undefined for a kind of token whose scopes cannot be read. */
export async function grantedScopes(
  api: HubspotApi,
  tokenKey: string | undefined,
): Promise<string[] | undefined> {
  if (tokenKey === undefined) return undefined
  try {
    const answer = await api.call(tokenInfoSchema, {
      method: 'POST',
      path: paths.tokenInfo,
      body: { tokenKey },
    })
    return answer.ok ? answer.data.scopes : undefined
  } catch (error) {
    if (error instanceof PaydirtError) return undefined
    throw error
  }
}

function problemOf(error: PaydirtError): ConnectorProblem {
  const { code, message } = error
  if (error instanceof RetriableError) {
    const minutes = Math.ceil((error.retryAfterMs ?? 60_000) / 60_000)
    const todo =
      code === 'hubspot_daily_limit'
        ? `Nothing: work continues by itself in about ${minutes} minutes, when the account’s day ends.`
        : `Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
    return { code, message, todo }
  }
  // The text after the first colon of a ConfigError says what to do.
  const [what = message, ...todo] = error instanceof ConfigError ? message.split(/: (?=\w)/) : [message]
  const rest = todo.join(': ')
  return {
    code,
    message: what,
    todo:
      rest === '' ? 'Look at the app’s settings in HubSpot.' : `${rest[0]?.toUpperCase()}${rest.slice(1)}.`,
  }
}
