import { SalesforceError } from './errors.ts'
import { API_USER_ID, LEAD_QUEUE_ID, toLongId } from './ids.ts'
import type { SalesforceType } from './schema.ts'
import type { Condition, Soql } from './soql-parse.ts'

interface Owned {
  readonly type: SalesforceType
  readonly fields: Readonly<Record<string, unknown>>
}

/** The access of the API's user to records that others own. Tests change it. */
export interface OrgAccess {
  /** The org-wide default of all three objects. Default: public. */
  sharing: 'private' | 'public_read' | 'public_read_write'
  /** "View All" and "Modify All" of the objects, by the user's permission sets. Default: neither. */
  viewAll: Set<SalesforceType>
  modifyAll: Set<SalesforceType>
  /** Objects that the user has no Read for: they look as if the org did not have them. Default: none. */
  hidden: Set<SalesforceType>
  /** Objects that the user has no Create or Delete for. Default: none. */
  cannotCreate: Set<SalesforceType>
  cannotDelete: Set<SalesforceType>
  /** Objects and their permissions are hidden from users without "View Setup and Configuration". Default: hidden. */
  canViewSetup: boolean
}

export function createAccess(): OrgAccess {
  return {
    sharing: 'public_read_write',
    viewAll: new Set(),
    modifyAll: new Set(),
    hidden: new Set(),
    cannotCreate: new Set(),
    cannotDelete: new Set(),
    canViewSetup: false,
  }
}

/** Returns whether a query or a read returns the record. A record that is not shared is silently absent. */
export function maySee(access: OrgAccess, record: Owned): boolean {
  return (
    access.sharing !== 'private' ||
    access.viewAll.has(record.type) ||
    access.modifyAll.has(record.type) ||
    record.fields['OwnerId'] === API_USER_ID
  )
}

export function mayEdit(access: OrgAccess, record: Owned): boolean {
  return (
    access.sharing === 'public_read_write' ||
    access.modifyAll.has(record.type) ||
    record.fields['OwnerId'] === API_USER_ID
  )
}

const permissionSetId = toLongId('0PSWx0000000A1C')
type Row = Record<string, string | boolean>

/** The users by id, and whether they are active. */
type Users = ReadonlyMap<string, boolean>

/**
 * Returns the rows of a query to the objects that describe access, or undefined for any other object. Supports what can
 * be asked about one user: `=` and `IN` on the fields that are there.
 */
export function accessRows(access: OrgAccess, users: Users, soql: Soql): Row[] | undefined {
  const table = tables[soql.from.toLowerCase()]
  if (!table) return undefined
  if (table.needsSetup && !access.canViewSetup)
    throw new SalesforceError(400, 'INVALID_TYPE', `sObject type '${soql.from}' is not supported.`)
  const rows = table.rows(access, users)
  for (const name of soql.fields)
    if (rows[0] && !(name in rows[0]))
      throw new SalesforceError(400, 'INVALID_FIELD', `No such column '${name}' on entity '${soql.from}'.`)
  return rows
    .filter((row) => !soql.where || meets(row, soql.where))
    .map((row) => Object.fromEntries(soql.fields.map((name) => [name, row[name] as string | boolean])))
}

const defaults = { private: 'None', public_read: 'Read', public_read_write: 'Edit' } as const

const tables: Readonly<
  Record<string, { needsSetup: boolean; rows: (access: OrgAccess, users: Users) => Row[] }>
> = {
  organization: {
    needsSetup: false,
    rows: ({ sharing }) => [
      {
        Id: toLongId('00DWx0000000XY1'),
        DefaultAccountAccess: defaults[sharing],
        DefaultContactAccess: sharing === 'private' ? 'ControlledByParent' : defaults[sharing],
        DefaultLeadAccess: sharing === 'public_read_write' ? 'ReadEditTransfer' : defaults[sharing],
      },
    ],
  },
  user: {
    needsSetup: false,
    rows: (_, users) =>
      [...users].map(([id, isActive], at) => ({ Id: id, Name: `User ${at + 1}`, IsActive: isActive })),
  },
  group: {
    needsSetup: false,
    rows: () => [{ Id: LEAD_QUEUE_ID, Name: 'New leads', Type: 'Queue' }],
  },
  permissionsetassignment: {
    needsSetup: true,
    rows: () => [
      { Id: toLongId('0PaWx0000000A1D'), AssigneeId: API_USER_ID, PermissionSetId: permissionSetId },
    ],
  },
  objectpermissions: {
    needsSetup: true,
    rows: ({ viewAll, modifyAll }) =>
      (['Account', 'Contact', 'Lead'] as const).map((type, index) => ({
        Id: toLongId(`110Wx000000000${index}`),
        ParentId: permissionSetId,
        SobjectType: type,
        PermissionsViewAllRecords: viewAll.has(type),
        PermissionsModifyAllRecords: modifyAll.has(type),
      })),
  },
}

function meets(row: Row, condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.parts.every((part) => meets(row, part))
    case 'or':
      return condition.parts.some((part) => meets(row, part))
    case 'not':
      return !meets(row, condition.part)
    case 'in':
      return (
        condition.values.some((value) => 'value' in value && value.value === row[condition.field]) !==
        condition.isNegated
      )
    case 'compare':
      return 'value' in condition.value && condition.value.value === row[condition.field]
  }
}
