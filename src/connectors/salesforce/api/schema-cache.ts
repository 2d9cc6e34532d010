import { ConfigError } from '../../../domain/errors.ts'
import type { DescribedField, FieldType } from '../../../domain/mapping/mapping.ts'
import { RefusedRequestError } from './api-error.ts'
import { describeSchema, type RawField } from './answers.ts'
import type { SalesforceClient } from './client.ts'

/** A field with the properties that only Salesforce has. */
export interface SalesforceField extends DescribedField {
  /** True where a query may filter by it: long texts cannot be filtered by. */
  filterable: boolean
  nillable: boolean
  /** A new record can be given a value. */
  createable: boolean
  /** Digits before the decimal point; 0 where there is no limit. */
  wholeDigits: number
  /** The field is writable, but the integration user lacks the right. */
  lacksRight: boolean
  /** The field whose value decides which options may be chosen, as the country decides the states. */
  dependsOn?: { field: string; optionsFor: (value: string) => DescribedField['options'] }
}

export interface DescribedObject {
  name: string
  /** The prefix of its records' ids; "" where the org does not return it. */
  keyPrefix: string
  updateable: boolean
  createable: boolean
  /** Relationships from other objects to this one by name (`Tasks`), with the object of each, as far as the user sees it. */
  children: ReadonlyMap<string, string>
  /** By exact name; fields of a contact's account as `Account.Name`. Fields that the user may not see are absent. */
  fields: ReadonlyMap<string, SalesforceField>
}

export interface SchemaCache {
  describe(sobject: string): Promise<DescribedObject>
  /** Makes the next use describe the object again, because a known field was refused. */
  forget(sobject: string): void
}

/** The org's descriptions of its objects, cached for `freshMs`. */
export function createSchemaCache(
  client: SalesforceClient,
  { now, freshMs = 10 * 60_000 }: { now: () => number; freshMs?: number },
): SchemaCache {
  const known = new Map<string, { described: Promise<DescribedObject>; atMs: number }>()

  async function ask(sobject: string): Promise<DescribedObject> {
    try {
      const { name, keyPrefix, updateable, createable, fields, childRelationships } = await client.call(
        describeSchema,
        {
          path: `/sobjects/${encodeURIComponent(sobject)}/describe`,
        },
      )
      const all = [...fields.map((raw) => toField(raw, fields)), ...(await accountFields(fields))]
      return {
        name,
        keyPrefix: keyPrefix ?? '',
        updateable,
        createable,
        children: new Map(
          childRelationships.flatMap(({ relationshipName, childSObject }) =>
            relationshipName ? [[relationshipName, childSObject]] : [],
          ),
        ),
        fields: new Map(all.map((field) => [field.name, field])),
      }
    } catch (error) {
      if (!(error instanceof RefusedRequestError) || error.errorCode !== 'NOT_FOUND') throw error
      throw new ConfigError(
        'salesforce_access',
        `the org has no ${sobject} under API version ${client.apiVersion}, or the integration user may not see it`,
        { cause: error },
      )
    }
  }

  /**
   * Returns the fields of a parent account that name a contact's employer, as far as the user may see accounts and these
   * fields. They are read with the contact, never written.
   */
  async function accountFields(fields: readonly RawField[]): Promise<SalesforceField[]> {
    const isTied = fields.some(
      ({ relationshipName, referenceTo }) =>
        relationshipName === 'Account' && referenceTo.includes('Account'),
    )
    if (!isTied) return []
    try {
      const account = await describe('Account')
      return parentFields.filter(({ name }) => account.fields.has(name.slice('Account.'.length)))
    } catch (error) {
      if (error instanceof ConfigError && error.code === 'salesforce_access') return []
      throw error
    }
  }

  function describe(sobject: string): Promise<DescribedObject> {
    const kept = known.get(sobject)
    if (kept && now() - kept.atMs < freshMs) return kept.described
    const described = ask(sobject)
    known.set(sobject, { described, atMs: now() })
    described.catch(() => known.delete(sobject))
    return described
  }

  return {
    describe,
    forget(sobject) {
      known.delete(sobject)
      // A contact is read with fields of its account.
      if (sobject === 'Contact') known.delete('Account')
    },
  }
}

/** Returns whether a field that was described has been removed since, or its rights have. */
export function isStaleSchema(error: unknown): error is RefusedRequestError {
  return error instanceof RefusedRequestError && error.errorCode === 'INVALID_FIELD'
}

/** Runs work that reads fields, and repeats it once with new descriptions when a field has been removed. */
export async function withFields<T>(
  schema: SchemaCache,
  sobject: string,
  work: (object: DescribedObject) => Promise<T>,
): Promise<T> {
  try {
    return await work(await schema.describe(sobject))
  } catch (error) {
    if (!isStaleSchema(error)) throw error
    schema.forget(sobject)
    return work(await schema.describe(sobject))
  }
}

function toField(raw: RawField, all: readonly RawField[]): SalesforceField {
  const type = types[raw.type] ?? 'other'
  const isChoice = type === 'option' || type === 'options'
  return {
    name: raw.name,
    label: raw.label,
    type,
    writable: raw.updateable,
    custom: raw.name.endsWith('__c'),
    ...(raw.length > 0 ? { maxLength: raw.length } : {}),
    ...(isChoice ? { options: optionsOf(raw), restricted: raw.restrictedPicklist } : {}),
    filterable: raw.filterable,
    nillable: raw.nillable,
    createable: raw.createable,
    ...(isRequired(raw, all) ? { required: true } : {}),
    ...(raw.unique ? { unique: true } : {}),
    wholeDigits: raw.digits > 0 ? raw.digits : Math.max(0, raw.precision - raw.scale),
    ...dependencyOf(raw, all),
    lacksRight: !raw.updateable && raw.permissionable && !raw.calculated && !raw.autoNumber,
  }
}

/** The surname of an account is that of a person account, which is not made here. */
function isRequired(raw: RawField, all: readonly RawField[]): boolean {
  const isOfPerson = raw.name === 'LastName' && all.some(({ name }) => name === 'PersonContactId')
  const isFilled = raw.defaultedOnCreate || raw.type === 'boolean'
  return raw.createable && !raw.nillable && !isFilled && !isOfPerson
}

function optionsOf({ picklistValues }: Pick<RawField, 'picklistValues'>): { value: string; label: string }[] {
  return picklistValues
    .filter(({ active }) => active)
    .map(({ value, label }) => ({ value, label: label ?? value }))
}

function dependencyOf(raw: RawField, all: readonly RawField[]): Pick<SalesforceField, 'dependsOn'> {
  const controller = all.find(({ name }) => name === raw.controllerName)
  if (!controller) return {}
  const optionsFor = (value: string) => {
    const index = controller.picklistValues.findIndex((each) => each.value === value)
    const valid = raw.picklistValues.filter(({ validFor }) => index >= 0 && isValidFor(validFor, index))
    return optionsOf({ picklistValues: valid })
  }
  return { dependsOn: { field: controller.name, optionsFor } }
}

/** A set of bits in base64: the n-th, counted from the left, is that of the controlling field's n-th value. */
function isValidFor(validFor: string | null | undefined, index: number): boolean {
  const byte = Buffer.from(validFor ?? '', 'base64')[index >> 3] ?? 0
  return (byte & (0x80 >> (index % 8))) !== 0
}

const parent = {
  writable: false,
  custom: false,
  filterable: true,
  nillable: true,
  createable: false,
  wholeDigits: 0,
  lacksRight: false,
}
const parentFields: readonly SalesforceField[] = [
  { ...parent, name: 'Account.Name', label: 'Account Name', type: 'text' },
  { ...parent, name: 'Account.Website', label: 'Account Website', type: 'url' },
]

const types: Readonly<Record<string, FieldType>> = {
  string: 'text',
  textarea: 'text',
  encryptedstring: 'text',
  email: 'email',
  phone: 'phone',
  url: 'url',
  picklist: 'option',
  combobox: 'option',
  multipicklist: 'options',
  int: 'integer',
  long: 'integer',
  double: 'number',
  currency: 'number',
  percent: 'number',
  boolean: 'boolean',
  date: 'date',
  datetime: 'datetime',
  id: 'reference',
  reference: 'reference',
}
