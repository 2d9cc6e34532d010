// One file because the fields of an org and what a describe call says of them are one table.
import { accountFields } from './package-fields.ts'
import { noteFields, taskFields } from './noting/fields.ts'
import { describedStates, orgCountries } from './places/countries.ts'

export type SalesforceType = 'Account' | 'Contact' | 'Lead' | 'Note' | 'Task'

export type FieldType =
  | 'id'
  | 'string'
  | 'textarea'
  | 'email'
  | 'phone'
  | 'url'
  | 'picklist'
  | 'multipicklist'
  | 'int'
  | 'double'
  | 'currency'
  | 'boolean'
  | 'date'
  | 'datetime'
  | 'reference'

export interface FieldDefinition {
  readonly name: string
  readonly label: string
  readonly type: FieldType
  /** In characters; 0 for a field that is not text. */
  readonly length: number
  readonly nillable: boolean
  readonly updateable: boolean
  /** Default: as `updateable`. */
  readonly createable?: boolean
  /** The org fills it in a new record that lacks it. */
  readonly defaultedOnCreate?: boolean
  /** No two records outside the recycle bin have the same text in it, without regard to case. */
  readonly unique?: boolean
  /** An upsert may find records by it. */
  readonly externalId?: boolean
  /** Decimals of a number, to which a value is rounded. Default: not rounded. */
  readonly scale?: number
  readonly picklist: readonly string[]
  readonly isRestricted: boolean
  /** Set for the codes of the state and country picklists. */
  readonly places?: 'country' | 'state'
  readonly referenceTo: readonly string[]
  readonly relationshipName: string | null
}

export interface ObjectDefinition {
  readonly name: SalesforceType
  readonly keyPrefix: string
  /** Field definitions by lower-case name: names are case-insensitive in Salesforce. */
  readonly fields: Map<string, FieldDefinition>
}

/** The features in which orgs differ. */
export interface OrgFeatures {
  /** The fields that only orgs with Data.com ever had, such as `Account.YearStarted`. Default: absent. */
  readonly dataCom?: boolean
  /** State and country/territory picklists, on in new orgs. Default: off. */
  readonly placePicklists?: boolean
  /** Person accounts: an account and a contact in one. Default: off. */
  readonly personAccounts?: boolean
}

export function createSchema(features: OrgFeatures = {}): Record<SalesforceType, ObjectDefinition> {
  const schema = createObjects(features)
  if (features.placePicklists)
    for (const { name, fields } of [schema.Account, schema.Contact, schema.Lead])
      for (const definition of placeFields(placePrefixes[name]))
        fields.set(definition.name.toLowerCase(), definition)
  if (features.personAccounts) addPersonFields(schema)
  return schema
}

function addPersonFields({ Account, Contact }: Record<SalesforceType, ObjectDefinition>): void {
  const flag = field('IsPersonAccount', 'boolean', { nillable: false, updateable: false })
  Contact.fields.set('ispersonaccount', flag)
  const add = (definition: FieldDefinition): void =>
    void Account.fields.set(definition.name.toLowerCase(), definition)
  add(flag)
  add(field('PersonContactId', 'reference', { updateable: false, referenceTo: ['Contact'] }))
  for (const definition of Contact.fields.values()) {
    const name = personFieldName(definition.name)
    if (name !== undefined) add({ ...definition, name, nillable: true })
  }
}

/** Returns the name that a contact's field has on the account of a person; undefined for one that is not there. */
export function personFieldName(name: string): string | undefined {
  if (name.endsWith('__c')) return name.replace(/__c$/, '__pc')
  if (['FirstName', 'LastName', 'Salutation', 'Phone'].includes(name)) return name
  if (/^(Email|Title|MobilePhone|Department|LeadSource|Mailing\w+)$/.test(name)) return `Person${name}`
  return undefined
}

/** The address of each object. */
export const placePrefixes: Readonly<Record<SalesforceType, string>> = {
  Account: 'Billing',
  Contact: 'Mailing',
  Lead: '',
  Note: '',
  Task: '',
}

function placeFields(prefix: string): FieldDefinition[] {
  const more = { length: 10, isRestricted: true }
  return [
    field(`${prefix}CountryCode`, 'picklist', { ...more, places: 'country' }),
    field(`${prefix}StateCode`, 'picklist', { ...more, places: 'state' }),
  ]
}

function createObjects({ dataCom = false }: OrgFeatures): Record<SalesforceType, ObjectDefinition> {
  return {
    Account: object('Account', '001', [...ACCOUNT_FIELDS, ...(dataCom ? DATA_COM_FIELDS : [])]),
    Contact: object('Contact', '003', CONTACT_FIELDS),
    Lead: object('Lead', '00Q', LEAD_FIELDS),
    Note: activity(
      'Note',
      '002',
      noteFields.map(({ name, type, ...more }) => field(name, type, more)),
    ),
    Task: activity(
      'Task',
      '00T',
      taskFields.map(({ name, type, ...more }) => field(name, type, more)),
    ),
  }
}

export function field(name: string, type: FieldType, more: Partial<FieldDefinition> = {}): FieldDefinition {
  return {
    name,
    label: name
      .replace(/__c$/, '')
      .replaceAll('_', ' ')
      .replace(/([a-z])([A-Z])/g, '$1 $2'),
    type,
    length: LENGTHS[type],
    nillable: true,
    updateable: true,
    picklist: [],
    isRestricted: false,
    referenceTo: [],
    relationshipName: null,
    ...more,
  }
}

/** Returns a field of a describe response. */
export function describeField(definition: FieldDefinition): object {
  const { name, type, length } = definition
  const isCustom = name.endsWith('__c')
  const isNumber = type === 'double' || type === 'currency'
  return {
    aggregatable: true,
    autoNumber: false,
    byteLength: length * 3,
    calculated: false,
    cascadeDelete: false,
    caseSensitive: false,
    compoundFieldName: compoundOf(name),
    createable: definition.createable ?? definition.updateable,
    custom: isCustom,
    defaultValue: type === 'boolean' ? false : null,
    defaultedOnCreate: definition.defaultedOnCreate ?? type === 'boolean',
    deprecatedAndHidden: false,
    digits: type === 'int' ? 8 : 0,
    externalId: definition.externalId ?? false,
    filterable: type !== 'textarea',
    groupable: type !== 'textarea',
    idLookup: type === 'id' || type === 'email' || definition.externalId === true,
    label: definition.label,
    length,
    name,
    nameField: name === 'Name',
    nillable: definition.nillable,
    permissionable: isPermissionable(definition),
    picklistValues: valuesOf(definition).map((each) => ({
      active: true,
      defaultValue: false,
      validFor: null,
      ...each,
    })),
    controllerName: definition.places === 'state' ? name.replace(/StateCode$/, 'CountryCode') : null,
    dependentPicklist: definition.places === 'state',
    polymorphicForeignKey: false,
    precision: isNumber ? 18 : 0,
    referenceTo: definition.referenceTo,
    relationshipName: definition.relationshipName,
    restrictedPicklist: definition.isRestricted,
    scale: definition.scale ?? 0,
    soapType: SOAP_TYPES[type] ?? 'xsd:string',
    sortable: type !== 'textarea',
    type,
    unique: definition.unique ?? false,
    updateable: definition.updateable,
  }
}

function valuesOf({ picklist, places }: FieldDefinition): { value: string; label: string }[] {
  if (places === 'country') return orgCountries.map(({ code, name }) => ({ value: code, label: name }))
  if (places === 'state') return describedStates()
  return picklist.map((value) => ({ value, label: value }))
}

/** The field that a part belongs to. Field-level security of an address is that of the whole. */
function compoundOf(name: string): string | null {
  const [, prefix, part] = /^(Billing|Shipping|Mailing|Other|Person(?:Mailing|Other))?(\w+)$/.exec(name) ?? []
  if (ADDRESS_PARTS.has(part ?? '')) return `${prefix ?? ''}Address`
  return NAME_PARTS.has(name) ? 'Name' : null
}

const ADDRESS_PARTS: ReadonlySet<string> = new Set([
  'Street',
  'City',
  'State',
  'StateCode',
  'PostalCode',
  'Country',
  'CountryCode',
])
const NAME_PARTS: ReadonlySet<string> = new Set(['FirstName', 'LastName', 'Salutation'])

/** Field-level security covers every field but those of the system and the required ones. */
function isPermissionable({ name, nillable, type }: FieldDefinition): boolean {
  return (
    nillable &&
    type !== 'id' &&
    !['FirstName', 'LastName', 'Salutation', 'Name', 'MasterRecordId'].includes(name)
  )
}

const LENGTHS: Readonly<Record<FieldType, number>> = {
  id: 18,
  string: 255,
  textarea: 32_000,
  email: 80,
  phone: 40,
  url: 255,
  picklist: 255,
  multipicklist: 4099,
  int: 0,
  double: 0,
  currency: 0,
  boolean: 0,
  date: 0,
  datetime: 0,
  reference: 18,
}

const SOAP_TYPES: Partial<Record<FieldType, string>> = {
  id: 'tns:ID',
  reference: 'tns:ID',
  int: 'xsd:int',
  double: 'xsd:double',
  currency: 'xsd:double',
  boolean: 'xsd:boolean',
  date: 'xsd:date',
  datetime: 'xsd:dateTime',
}

function object(name: SalesforceType, keyPrefix: string, own: readonly FieldDefinition[]): ObjectDefinition {
  const all = [...systemFields(name), ...own, ...CUSTOM_FIELDS]
  return {
    name,
    keyPrefix,
    fields: new Map(all.map((definition) => [definition.name.toLowerCase(), definition])),
  }
}

/** Notes and tasks are never merged, and have no fields of ours. */
function activity(
  name: SalesforceType,
  keyPrefix: string,
  own: readonly FieldDefinition[],
): ObjectDefinition {
  const all = [...systemFields(name).filter((each) => each.name !== 'MasterRecordId'), ...own]
  return {
    name,
    keyPrefix,
    fields: new Map(all.map((definition) => [definition.name.toLowerCase(), definition])),
  }
}

function systemFields(name: SalesforceType): FieldDefinition[] {
  const readOnly = { nillable: false, updateable: false }
  return [
    field('Id', 'id', readOnly),
    field('IsDeleted', 'boolean', readOnly),
    field('MasterRecordId', 'reference', {
      updateable: false,
      referenceTo: [name],
      relationshipName: 'MasterRecord',
    }),
    field('CreatedDate', 'datetime', readOnly),
    field('CreatedById', 'reference', { ...readOnly, referenceTo: ['User'] }),
    field('LastModifiedDate', 'datetime', readOnly),
    field('LastModifiedById', 'reference', { ...readOnly, referenceTo: ['User'] }),
    field('SystemModstamp', 'datetime', readOnly),
    field('OwnerId', 'reference', { nillable: false, referenceTo: ['User'], defaultedOnCreate: true }),
  ]
}

const INDUSTRIES = [
  'Agriculture',
  'Energy',
  'Engineering',
  'Food & Beverage',
  'Healthcare',
  'Media',
  'Technology',
  'Other',
]
const required = { nillable: false }
const computed = { updateable: false }

const CUSTOM_FIELDS: readonly FieldDefinition[] = [
  field('Profnet_URL__c', 'url'),
  field('Size_Band__c', 'picklist', {
    picklist: ['1-10', '11-50', '51-200', '201-1000', '1001+'],
    isRestricted: true,
  }),
  field('Paydirt_Status__c', 'string', { length: 40 }),
  field('Paydirt_Enriched_At__c', 'datetime'),
  field('Paydirt_Source__c', 'string', { length: 255 }),
  field('Paydirt_Key__c', 'string', { length: 64, unique: true, externalId: true }),
]

const ACCOUNT_FIELDS: readonly FieldDefinition[] = [
  ...accountFields.map(({ name, type, picklist, ...more }) =>
    field(name, type, { ...more, ...(picklist ? { picklist, isRestricted: true } : {}) }),
  ),
  field('Name', 'string', required),
  field('Website', 'url'),
  field('Phone', 'phone'),
  field('Fax', 'phone'),
  field('Industry', 'picklist', { picklist: INDUSTRIES }),
  field('Type', 'picklist', { picklist: ['Prospect', 'Customer', 'Partner', 'Other'] }),
  field('NumberOfEmployees', 'int'),
  field('AnnualRevenue', 'currency'),
  field('Description', 'textarea'),
  field('BillingStreet', 'textarea', { length: 255 }),
  field('BillingCity', 'string', { length: 40 }),
  field('BillingState', 'string', { length: 80 }),
  field('BillingPostalCode', 'string', { length: 20 }),
  field('BillingCountry', 'string', { length: 80 }),
  field('ParentId', 'reference', { referenceTo: ['Account'], relationshipName: 'Parent' }),
]

const DATA_COM_FIELDS: readonly FieldDefinition[] = [
  field('YearStarted', 'string', { length: 4 }),
  field('Tradestyle', 'string'),
  field('DunsNumber', 'string', { length: 9 }),
]

const PERSON_FIELDS: readonly FieldDefinition[] = [
  field('LastName', 'string', { length: 80, ...required }),
  field('FirstName', 'string', { length: 40 }),
  field('Salutation', 'picklist', { length: 40, picklist: ['Mr.', 'Ms.', 'Dr.', 'Prof.'] }),
  field('Name', 'string', { length: 121, ...required, ...computed }),
  field('Title', 'string', { length: 128 }),
  field('Email', 'email'),
  field('Phone', 'phone'),
  field('MobilePhone', 'phone'),
  field('Paydirt_Personal_Email__c', 'email'),
  field('Description', 'textarea'),
  field('LeadSource', 'picklist', { picklist: ['Web', 'Phone Inquiry', 'Purchased List', 'Other'] }),
]

const CONTACT_FIELDS: readonly FieldDefinition[] = [
  ...PERSON_FIELDS,
  field('Paydirt_Left_Company_At__c', 'date'),
  field('Paydirt_Former_Record__c', 'string', { length: 255 }),
  field('Paydirt_Champion_Relationship__c', 'string', { length: 255 }),
  field('AccountId', 'reference', { referenceTo: ['Account'], relationshipName: 'Account' }),
  field('Department', 'string', { length: 80 }),
  field('MailingStreet', 'textarea', { length: 255 }),
  field('MailingCity', 'string', { length: 40 }),
  field('MailingState', 'string', { length: 80 }),
  field('MailingPostalCode', 'string', { length: 20 }),
  field('MailingCountry', 'string', { length: 80 }),
]

const LEAD_FIELDS: readonly FieldDefinition[] = [
  ...PERSON_FIELDS,
  field('Company', 'string', required),
  field('Website', 'url'),
  field('Industry', 'picklist', { picklist: INDUSTRIES }),
  field('NumberOfEmployees', 'int'),
  field('AnnualRevenue', 'currency'),
  field('Street', 'textarea', { length: 255 }),
  field('City', 'string', { length: 40 }),
  field('State', 'string', { length: 80 }),
  field('PostalCode', 'string', { length: 20 }),
  field('Country', 'string', { length: 80 }),
  field('Status', 'picklist', {
    picklist: ['Open', 'Working', 'Qualified', 'Unqualified'],
    defaultedOnCreate: true,
    ...required,
  }),
  field('IsConverted', 'boolean', { nillable: false, ...computed }),
  field('ConvertedDate', 'date', computed),
  field('ConvertedAccountId', 'reference', { ...computed, referenceTo: ['Account'] }),
  field('ConvertedContactId', 'reference', { ...computed, referenceTo: ['Contact'] }),
]
