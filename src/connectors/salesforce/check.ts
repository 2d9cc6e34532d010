import { ConfigError, RetriableError, describeError } from '../../domain/errors.ts'
import {
  checkMapping,
  fieldLeftOut,
  type CrmMapping,
  type EntityMapping,
  type MappingProblem,
} from '../../domain/mapping/mapping.ts'
import type { ConnectorCheck, ConnectorProblem } from '../connector.ts'
import { userSchema, versionsSchema } from './api/answers.ts'
import type { SalesforceClient } from './api/client.ts'
import { ownFields } from './own-fields.ts'
import { withPlaceCodes } from './place-codes.ts'
import { checkRecordAccess } from './record-access.ts'
import type { DescribedObject, SchemaCache } from './api/schema-cache.ts'

export interface CheckDeps {
  client: SalesforceClient
  schema: SchemaCache
  mapping: CrmMapping
  quotaShare: number
  /** Default: all of the mapping. */
  entities?: readonly string[] | undefined
}

/**
 * Checks credentials, version, rights, mapping and quota in turn. Everything that a person must correct is among the
 * problems.
 */
export async function checkSalesforce(deps: CheckDeps): Promise<ConnectorCheck> {
  const { client, entities = Object.keys(deps.mapping.entities) } = deps
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
    for (const entity of entities) await checkEntity(deps, entity, answer)
    answer.problems.push(...(await checkRecordAccess(client, userId, entities)))
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
    answer.problems.push(problemOf(error))
    return
  }
  const mapping = deps.mapping.entities[entity]
  if (!mapping) return
  if (!object.updateable)
    answer.problems.push({
      code: 'missing_object_permission',
      message: `${entity}: the user may not edit the object`,
      todo: `Give the integration user Edit for ${entity}: the permission set of the package has it.`,
    })
  const found = checkMapping(withPlaceCodes(mapping, object), [...object.fields.values()])
  for (const problem of found.filter(({ optional }) => !optional))
    answer.problems.push(mappingProblem(entity, object, problem))
  answer.problems.push(...leftOut(entity, object, found), ...withoutParent(entity, mapping, object))
  answer.problems.push(...ownFieldProblems(deps.mapping, entity, object))
}

/** A property that the config file names. */
function mappingProblem(entity: string, object: DescribedObject, problem: MappingProblem): ConnectorProblem {
  if (object.fields.get(problem.property)?.lacksRight)
    return {
      code: 'missing_field_permission',
      message: `${entity}: ${problem.message}`,
      todo: 'Give the integration user the right to edit the field, or take it out of the mapping.',
    }
  return {
    code: problem.code,
    message: `${entity}: ${problem.message}`,
    todo:
      problem.code === 'unknown_property'
        ? 'Correct the name in the mapping, or give the integration user the right to see the field: without it a field looks as if it were not there.'
        : 'Map to a field that can be written, or take it out of the mapping.',
  }
}

/** Properties of the default mapping that this org or this user does not have, in one finding for each cause. */
function leftOut(
  entity: string,
  object: DescribedObject,
  found: readonly MappingProblem[],
): ConnectorProblem[] {
  const properties = [
    ...new Set(found.filter(({ optional }) => optional).map(({ property }) => property)),
  ].filter((property) => !property.startsWith('Account.'))
  const hidden = properties.filter((property) => !object.fields.has(property))
  const locked = properties.filter((property) => object.fields.get(property)?.lacksRight)
  return [
    ...(hidden.length > 0
      ? [
          {
            code: fieldLeftOut,
            message: `${entity}: ${hidden.join(', ')}: not in this org, or hidden from the user; left out`,
            todo: 'Optional: where the org has the field, give the integration user the right to see and edit it.',
          },
        ]
      : []),
    ...(locked.length > 0
      ? [
          {
            code: fieldLeftOut,
            message: `${entity}: ${locked.join(', ')}: the user may read but not edit it; left out`,
            todo: 'Optional: give the integration user the right to edit it.',
          },
        ]
      : []),
  ]
}

function ownFieldProblems(mapping: CrmMapping, entity: string, object: DescribedObject): ConnectorProblem[] {
  const fields = ownFields(mapping, entity, object)
  const conflicts = fields.filter(({ status }) => status === 'conflict')
  const missing = fields.filter(({ status }) => status === 'missing')
  return [
    ...conflicts.map(({ name, reason }) => ({
      code: 'own_field_conflict',
      message: `${entity}.${name} cannot be used: ${reason ?? 'it is not as the package has it'}`,
      todo: 'Deploy the package in crm/salesforce and give the integration user its permission set, or rename the field of yours.',
      fields: [`${entity}.${name}`],
    })),
    ...(missing.length > 0
      ? [
          {
            code: 'own_field_missing',
            message: `${entity}: ${missing.map(({ name }) => name).join(', ')}: not there, or hidden from the user; records are written without them`,
            todo: 'Optional: deploy the package in crm/salesforce and give the integration user its permission set.',
            fields: missing.map(({ name }) => `${entity}.${name}`),
          },
        ]
      : []),
  ]
}

/** The account of a contact, which identifies it where nothing better does. */
function withoutParent(entity: string, mapping: EntityMapping, object: DescribedObject): ConnectorProblem[] {
  const absent = Object.values(mapping.identity)
    .flat()
    .filter((name) => name.startsWith('Account.') && !object.fields.has(name))
  if (absent.length === 0) return []
  return [
    {
      code: fieldLeftOut,
      message: `${entity}: ${absent.join(', ')}: the user may not see accounts, or not these fields of theirs; left out`,
      todo: 'Optional: give the integration user Read for accounts, so that contacts can be found by their company.',
    },
  ]
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
      todo: 'Correct what the message names, then check again.',
    }
  if (error instanceof RetriableError)
    return {
      code: error.code,
      message: error.message,
      todo: 'Check the address and the network, or try again later.',
    }
  return { code: 'unexpected', message: describeError(error), todo: 'Please report it with this message.' }
}
