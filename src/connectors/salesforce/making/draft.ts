import { creating } from '../../../domain/mapping/creating.ts'
import { canonicalOf, type CrmMapping, type EntityMapping } from '../../../domain/mapping/mapping.ts'
import { ConfigError } from '../../../domain/errors.ts'
import type { Patch } from '../../../domain/record.ts'
import type { CreateResult, RecordDraft } from '../../creating.ts'
import type { LeftOut } from '../../write-result.ts'
import type { DescribedObject } from '../api/schema-cache.ts'
import type { Body } from '../api/collections.ts'
import { fitPatch, stampOf } from '../fit.ts'
import { longId } from '../ids.ts'
import { ownFields } from '../own-fields.ts'
import { withPlaceCodes } from '../place-codes.ts'

/** A draft as it is sent. */
export interface Prepared {
  /** The index of its draft. */
  index: number
  key: string
  body: Body
  leftOut: LeftOut[]
}

/** Returns why the integration user may make no records of an object. */
export function checkCreating(
  mapping: CrmMapping,
  entity: string,
  { createable }: Pick<DescribedObject, 'createable'>,
): { code: string; message: string; todo: string }[] {
  if (!mapping.entities[entity] || createable) return []
  return [
    {
      code: 'salesforce_creating',
      message: `the integration user may not create records of ${entity}`,
      todo: 'Assign it the permission set "Paydirt Lists" of the package.',
    },
  ]
}

/** Returns the name of the unique field for our key. Throws ConfigError where nothing may be made, with what to do about it. */
export function keyFieldOf(mapping: CrmMapping, entity: string, object: DescribedObject): string {
  const [refusal] = checkCreating(mapping, entity, object)
  if (refusal) throw new ConfigError(refusal.code, `${refusal.message}. ${refusal.todo}`)
  const { key } = mapping
  const found = ownFields(mapping, entity, object, { forCreating: true }).find(({ name }) => name === key)
  if (key !== undefined && found?.status === 'exists') return key
  throw new ConfigError(
    'key_field_missing',
    `nothing is created: ${entity}.${key ?? 'Paydirt_Key__c'} ${found?.status === 'conflict' ? `cannot be used, because ${found.reason}` : 'is not there, or hidden from the user'}. Deploy the package in crm/salesforce and assign its permission set "Paydirt Lists": by this unique field each record is made once`,
  )
}

/**
 * Fits a draft to the org, as a write is fitted, with our stamp, so that a scan knows the record as ours. Returns the refusal of
 * one that lacks a required field: it is not sent.
 */
export function prepareDraft(
  draft: RecordDraft,
  index: number,
  keyField: string,
  { own, entities }: CrmMapping,
  object: DescribedObject,
  nowMs: number,
): Prepared | CreateResult {
  const entity = object.name
  const given = entities[entity] as EntityMapping
  const mapping = withPlaceCodes(creating(given), object)
  const asNew = { ...object, fields: createableFields(object) }
  const { body, leftOut } = fitPatch(withoutSecondBest(draft.patch, mapping), mapping, asNew)
  for (const [name, value] of Object.entries(draft.set ?? {})) {
    if (asNew.fields.get(name)?.writable) body[name] = value
    else throw noConstant(entity, name, asNew.fields.has(name))
  }
  if (draft.ownerId !== undefined) body['OwnerId'] = longId(draft.ownerId) ?? draft.ownerId
  if (draft.companyId !== undefined && asNew.fields.get('AccountId')?.writable)
    body['AccountId'] = longId(draft.companyId) ?? draft.companyId

  const [missing] = [...object.fields.values()].filter(
    ({ name, required }) => required === true && (body[name] ?? null) === null,
  )
  if (missing) {
    const field = canonicalOf(mapping, missing.name) ?? missing.name
    const unfit = leftOut.find((each) => each.field === field)
    return {
      key: draft.key,
      status: 'rejected',
      code: unfit?.code ?? 'REQUIRED_FIELD_MISSING',
      field,
      reason: unfit?.reason ?? `${missing.name} is required, and there is no value for it`,
    }
  }
  const effective = { own, entities: { [entity]: withPlaceCodes(given, object) } }
  const stamp = stampOf(body, effective, entity, asNew, nowMs)
  return { index, key: draft.key, body: { ...body, ...stamp, [keyField]: draft.key }, leftOut }
}

/** The constants of a list are the same for all of its drafts: a wrong one is a mistake of its settings. */
function noConstant(entity: string, name: string, isThere: boolean): ConfigError {
  return new ConfigError(
    'bad_constant',
    isThere
      ? `${entity}.${name} cannot be set to a constant: the integration user may not write it`
      : `${entity} has no field ${name} that could be set to a constant; take its name as it is in Setup, with __c`,
  )
}

/** A website goes before the bare domain where both have one field. */
function withoutSecondBest(patch: Patch, { fields }: EntityMapping): Patch {
  const second = ['domain', 'company_domain'].filter((name) => {
    const property = fields[name]?.property
    const better = name.replace('domain', 'website')
    return property !== undefined && better in patch && fields[better]?.property === property
  })
  return Object.fromEntries(Object.entries(patch).filter(([name]) => !second.includes(name)))
}

/** In a new record a field is written that may be set on creation: some can never be changed afterwards. */
function createableFields({ fields }: DescribedObject): DescribedObject['fields'] {
  return new Map([...fields].map(([name, field]) => [name, { ...field, writable: field.createable }]))
}
