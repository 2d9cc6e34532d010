import { ConfigError } from '../../../domain/errors.ts'
import { toCrm } from '../../../domain/mapping/convert.ts'
import {
  canonicalOf,
  type CrmMapping,
  type DescribedField,
  type EntityMapping,
} from '../../../domain/mapping/mapping.ts'
import { nearNames } from '../../../domain/normalise/near-names.ts'
import type { CreateResult, RecordDraft } from '../../creating.ts'
import type { LeftOut } from '../../write-result.ts'
import type { HubspotEntity } from '../api/wire.ts'
import { fitPatch } from '../prepare.ts'
import { ownerProperty } from './owners.ts'

/** A draft in HubSpot's terms. */
export interface DraftInput {
  /** Position among the drafts, also the trace id in HubSpot's answer. */
  index: number
  key: string
  properties: Record<string, string>
  leftOut: LeftOut[]
  companyId: string | undefined
}

/** A new record needs one of these: https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide, and of companies. */
const needed: Readonly<Record<HubspotEntity, readonly string[]>> = {
  companies: ['name', 'domain'],
  contacts: ['email', 'firstname', 'lastname'],
}

/** Returns the canonical fields of which a new record needs one. `entityMap` is that of records that we make. */
export function neededFields(entity: HubspotEntity, entityMap: EntityMapping): string[] {
  return needed[entity].flatMap((property) => canonicalOf(entityMap, property) ?? [])
}

/** Returns what can be sent of a draft, or the result that it already has. `entityMap` is that of records that we make. */
export function prepareDraft(
  { key, patch, set = {}, ownerId, companyId }: RecordDraft,
  index: number,
  entity: HubspotEntity,
  entityMap: EntityMapping,
  fields: ReadonlyMap<string, DescribedField>,
): DraftInput | CreateResult {
  // In the order of the mapping: where two fields have one property, the place for new records wins.
  const ordered = Object.fromEntries(
    [...new Set([...Object.keys(entityMap.fields), ...Object.keys(patch)])].flatMap((field) =>
      patch[field] === undefined ? [] : [[field, patch[field]]],
    ),
  )
  const { properties: given, leftOut } = fitPatch(ordered, entityMap, fields)
  const properties = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  for (const [name, value] of Object.entries(set)) {
    const field = fields.get(name)
    if (!field?.writable)
      return { key, status: 'rejected', code: 'READ_ONLY', field: name, reason: `${name} cannot be written` }
    const converted = toCrm(value, field, {}, {})
    if (!converted.ok)
      return { key, status: 'rejected', code: converted.code, field: name, reason: converted.reason }
    properties[name] = String(converted.value)
  }
  if (ownerId !== undefined) properties[ownerProperty] = ownerId
  if (!needed[entity].some((name) => properties[name]))
    return {
      key,
      status: 'rejected',
      code: 'REQUIRED_MISSING',
      reason: `HubSpot makes no record of ${entity} without ${needed[entity].join(' or ')}`,
    }
  return { index, key, properties, leftOut, companyId }
}

/** Throws ConfigError where records cannot be made: without a unique property for our key, or with constants for no property. */
export function assertCreatable(
  { key }: CrmMapping,
  entity: HubspotEntity,
  fields: ReadonlyMap<string, DescribedField>,
  drafts: readonly RecordDraft[],
): string {
  const described = key === undefined ? undefined : fields.get(key)
  if (key === undefined || !described)
    throw new ConfigError(
      'hubspot_key_missing',
      `the ${entity} of the account lack the unique property ${key ?? 'for our key'}, by which a record is made only once: add the scope crm.schemas.${entity}.write to the app and let Paydirt create it, or create it by hand as a single-line text that requires unique values`,
    )
  if (!described.unique || !described.writable)
    throw new ConfigError(
      'hubspot_key_missing',
      `the property ${key} of ${entity} does not require unique values, so that a record could be made twice: delete it in HubSpot and let Paydirt create it again`,
    )
  for (const name of new Set(drafts.flatMap(({ set = {} }) => Object.keys(set)))) {
    // HubSpot counts each marketing contact towards the bill; no call of the API sets it.
    if (name === 'hs_marketable_status')
      throw new ConfigError(
        'hubspot_set',
        'Paydirt makes no marketing contacts: leave hs_marketable_status out of `set`',
      )
    const field = fields.get(name)
    const near = nearNames(name, [...fields.keys()])
    if (!field)
      throw new ConfigError(
        'hubspot_set',
        `\`set\` names ${name}, and ${entity} have no such property${near.length > 0 ? ` (near: ${near.join(', ')})` : ''}: correct it in paydirt.config.ts`,
      )
    if (!field.writable)
      throw new ConfigError(
        'hubspot_set',
        `\`set\` names ${name}, which is read-only in ${entity}: leave it out`,
      )
  }
  return key
}
