import { z } from 'zod'
import { ConfigError, FatalError } from '../../domain/errors.ts'
import type { ConnectorProblem } from '../connector.ts'
import type { SalesforceClient } from './api/client.ts'
import { select, soqlText } from './api/soql.ts'

/** The code of a finding about records that the user does not see or may not edit. It stops nothing. */
const recordAccess = 'record_access'

const defaultsSchema = z.object({
  records: z.array(
    z.object({
      DefaultAccountAccess: z.string(),
      DefaultContactAccess: z.string(),
      DefaultLeadAccess: z.string(),
    }),
  ),
})
const assignmentsSchema = z.object({ records: z.array(z.object({ PermissionSetId: z.string() })) })
const permissionsSchema = z.object({
  records: z.array(
    z.object({
      SobjectType: z.string(),
      PermissionsViewAllRecords: z.boolean(),
      PermissionsModifyAllRecords: z.boolean(),
    }),
  ),
})
type Permissions = z.infer<typeof permissionsSchema>['records']

/**
 * Finds objects of which the user does not see or may not edit every record. A record that is not shared with the user
 * is silently absent from every answer, so nothing else would say so.
 */
export async function checkRecordAccess(
  client: SalesforceClient,
  userId: string,
  entities: readonly string[],
): Promise<ConnectorProblem[]> {
  const defaults = await readDefaults(client)
  if (!defaults) return []
  const closed = entities.filter((entity) => !(defaults.get(entity)?.isEditable ?? true))
  if (closed.length === 0) return []
  const permissions = await readPermissions(client, userId, closed)
  if (!permissions) {
    const objects = closed.join(', ')
    return [
      {
        code: recordAccess,
        message: `${objects}: the org shares records privately or for reading only, and whether this user sees and edits all of them cannot be read`,
        todo: 'Optional: see that the permission set of the integration user has View All for these objects, and that it may edit the records that others own.',
      },
    ]
  }
  return closed.flatMap((entity): ConnectorProblem[] => {
    const mine = permissions.filter(({ SobjectType }) => SobjectType === entity)
    const canEditAll = mine.some(({ PermissionsModifyAllRecords }) => PermissionsModifyAllRecords)
    const canSeeAll =
      canEditAll ||
      defaults.get(entity)?.isVisible === true ||
      mine.some(({ PermissionsViewAllRecords }) => PermissionsViewAllRecords)
    if (!canSeeAll)
      return [
        {
          code: recordAccess,
          message: `${entity}: the user has no View All, so records that are not shared with it are absent and are never enriched`,
          todo: `Optional: give the integration user the permission set of the package, which has View All, or share the records with it.`,
        },
      ]
    if (canEditAll) return []
    return [
      {
        code: recordAccess,
        message: `${entity}: the user sees all records, but may edit only those that are shared with it for editing`,
        todo: 'Optional: share the records with the integration user (role hierarchy, sharing rule) or give it Modify All for the object: what is bought for the others cannot be written.',
      },
    ]
  })
}

interface Sharing {
  isVisible: boolean
  isEditable: boolean
}

/** Returns the org-wide default of each object, or undefined where the user may not read it. */
async function readDefaults(client: SalesforceClient): Promise<ReadonlyMap<string, Sharing> | undefined> {
  const answer = await unlessRefused(
    client.call(defaultsSchema, {
      path: '/query',
      query: {
        q: select({
          fields: ['Id', 'DefaultAccountAccess', 'DefaultContactAccess', 'DefaultLeadAccess'],
          from: 'Organization',
          where: [],
        }),
      },
    }),
  )
  const org = answer?.records[0]
  if (!org) return undefined
  const account = sharingOf(org.DefaultAccountAccess)
  const isByParent = org.DefaultContactAccess.startsWith('ControlledBy')
  return new Map([
    ['Account', account],
    ['Contact', isByParent ? account : sharingOf(org.DefaultContactAccess)],
    ['Lead', sharingOf(org.DefaultLeadAccess)],
  ])
}

/** `None`, `Read`, `Edit`, `ReadEditTransfer`, `All`. */
function sharingOf(access: string): Sharing {
  return { isVisible: access !== 'None', isEditable: access !== 'None' && access !== 'Read' }
}

/** Returns undefined where the user may not read permissions: that takes "View Setup and Configuration". */
async function readPermissions(
  client: SalesforceClient,
  userId: string,
  entities: readonly string[],
): Promise<Permissions | undefined> {
  const assigned = await unlessRefused(
    client.call(assignmentsSchema, {
      path: '/query',
      query: {
        q: select({
          fields: ['Id', 'PermissionSetId'],
          from: 'PermissionSetAssignment',
          where: [`AssigneeId = ${soqlText(userId)}`],
          limit: 300,
        }),
      },
    }),
  )
  if (!assigned || assigned.records.length === 0) return undefined
  const ids = assigned.records.map(({ PermissionSetId }) => soqlText(PermissionSetId))
  const answer = await unlessRefused(
    client.call(permissionsSchema, {
      path: '/query',
      query: {
        q: select({
          fields: ['Id', 'SobjectType', 'PermissionsViewAllRecords', 'PermissionsModifyAllRecords'],
          from: 'ObjectPermissions',
          where: [`ParentId IN (${ids.join(', ')})`, `SobjectType IN (${entities.map(soqlText).join(', ')})`],
        }),
      },
    }),
  )
  return answer?.records
}

async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof FatalError || (error instanceof ConfigError && error.code === 'salesforce_access'))
      return undefined
    throw error
  }
}
