import { ConfigError, RetriableError, describeError } from '../../domain/errors.ts'
import { checkMapping, type CrmMapping } from '../../domain/mapping/mapping.ts'
import type { ConnectorCheck, ConnectorProblem } from '../connector.ts'
import { userSchema, versionsSchema } from './api/answers.ts'
import type { SalesforceClient } from './api/client.ts'
import { ownFields } from './own-fields.ts'
import type { DescribedObject, SchemaCache } from './api/schema-cache.ts'

export interface CheckDeps {
  client: SalesforceClient
  schema: SchemaCache
  mapping: CrmMapping
  quotaShare: number
}

/**
 * Checks credentials, version, rights, mapping and quota in turn. Everything that a person must correct is among the
 * problems.
 */
export async function checkSalesforce(deps: CheckDeps): Promise<ConnectorCheck> {
  const { client } = deps
  const answer: ConnectorCheck = {
    account: null,
    apiVersion: client.apiVersion,
    missingScopes: [],
    problems: [],
  }
  try {
    const { orgId, userId } = await client.session()
    answer.account = { id: orgId, name: `user ${userId}` }
    answer.problems.push(...(await checkVersion(client)))
    if (answer.problems.length > 0) return answer
    for (const entity of Object.keys(deps.mapping.entities)) await checkEntity(deps, entity, answer)
    answer.account.name = await userName(client, userId)
    answer.problems.push(...checkQuota(deps))
  } catch (error) {
    answer.problems.push(problemOf(error))
  }
  return answer
}

async function checkVersion(client: SalesforceClient): Promise<ConnectorProblem[]> {
  const versions = await client.call(versionsSchema, { path: '/services/data' })
  if (versions.some(({ version }) => version === client.apiVersion)) return []
  const latest = versions.at(-1)?.version ?? 'none'
  return [
    {
      code: 'api_version',
      message: `the org does not support API version ${client.apiVersion}; its latest is ${latest}`,
      todo: `Set the API version of the connection to ${latest}.`,
    },
  ]
}

async function checkEntity(deps: CheckDeps, entity: string, answer: ConnectorCheck): Promise<void> {
  let object: DescribedObject
  try {
    object = await deps.schema.describe(entity)
  } catch (error) {
    if (!(error instanceof ConfigError) || error.code !== 'salesforce_access') throw error
    answer.missingScopes.push(`${entity}: read`)
    answer.problems.push(problemOf(error))
    return
  }
  const mapping = deps.mapping.entities[entity]
  if (!mapping) return
  if (!object.updateable) answer.missingScopes.push(`${entity}: edit`)
  for (const problem of checkMapping(mapping, [...object.fields.values()])) {
    const lacksRight = object.fields.get(problem.property)?.lacksRight === true
    if (lacksRight) answer.missingScopes.push(`${entity}.${problem.property}: edit`)
    answer.problems.push({
      code: lacksRight ? 'missing_field_permission' : problem.code,
      message: `${entity}: ${problem.message}`,
      todo:
        problem.code === 'unknown_property'
          ? 'Correct the name in the mapping, or give the integration user the right to see the field: without it a field looks as if it were not there.'
          : 'Give the integration user the right to edit the field, or take it out of the mapping.',
    })
  }
  for (const { name, status, reason } of ownFields(deps.mapping, entity, object)) {
    if (status === 'exists') continue
    if (object.fields.get(name)?.lacksRight) answer.missingScopes.push(`${entity}.${name}: edit`)
    answer.problems.push({
      code: status === 'conflict' ? 'own_field_conflict' : 'own_field_missing',
      message: `${entity} has no usable field ${name}`,
      todo: `Optional: ${reason ?? 'see the guide of the package'}.`,
    })
  }
}

async function userName(client: SalesforceClient, userId: string): Promise<string> {
  try {
    const user = await client.call(userSchema, { path: '/services/oauth2/userinfo' })
    return user.preferred_username
  } catch {
    // A token without the scope `openid` may not read the name; nothing else depends on it.
    return `user ${userId}`
  }
}

function checkQuota({ client, quotaShare }: CheckDeps): ConnectorProblem[] {
  const quota = client.quota()
  if (!quota || quota.used < quota.limit * quotaShare) return []
  return [
    {
      code: 'quota',
      message: `${quota.used} of the org's ${quota.limit} daily API requests are used, which is our share or more`,
      todo: 'Wait until some of the last 24 hours have passed, raise the share, or find who else uses them (Setup, System Overview).',
    },
  ]
}

function problemOf(error: unknown): ConnectorProblem {
  if (error instanceof ConfigError)
    return {
      code: error.code,
      message: error.message,
      todo: 'Correct it in Salesforce or in the settings, then check again.',
    }
  if (error instanceof RetriableError)
    return {
      code: error.code,
      message: error.message,
      todo: 'Check the address and the network, or try again later.',
    }
  return { code: 'unexpected', message: describeError(error), todo: 'Please report it with this message.' }
}
