export type HubspotType = 'companies' | 'contacts'

/** Kinds of records that only their ties to companies and contacts tell of here. */
export const TIED_TYPE_IDS = {
  deals: '0-3',
  tickets: '0-5',
  notes: '0-46',
  tasks: '0-27',
  calls: '0-48',
  meetings: '0-47',
  emails: '0-49',
} as const
export type TiedKind = keyof typeof TIED_TYPE_IDS

export const OBJECT_TYPE_IDS: Readonly<Record<HubspotType, string>> = { contacts: '0-1', companies: '0-2' }

export type PropertyType = 'string' | 'number' | 'date' | 'datetime' | 'enumeration' | 'bool' | 'phone_number'

export interface PropertyOption {
  readonly label: string
  readonly value: string
  readonly displayOrder: number
  readonly hidden: boolean
}

/** A property as the properties API returns it. */
export interface HubspotProperty {
  readonly name: string
  readonly label: string
  readonly type: PropertyType
  readonly fieldType: string
  readonly description: string
  readonly groupName: string
  readonly options: readonly PropertyOption[]
  readonly displayOrder: number
  readonly calculated: boolean
  readonly externalOptions: boolean
  readonly hasUniqueValue: boolean
  readonly hidden: boolean
  readonly hubspotDefined?: boolean
  readonly formField: boolean
  readonly archived: boolean
  readonly createdAt?: string
  readonly updatedAt?: string
  readonly modificationMetadata: {
    readonly archivable: boolean
    readonly readOnlyDefinition: boolean
    readonly readOnlyValue: boolean
  }
}

interface PropertyGroup {
  readonly name: string
  readonly label: string
  readonly displayOrder: number
  readonly archived: boolean
}

export interface PropertyRegistry {
  readonly properties: Record<HubspotType, Map<string, HubspotProperty>>
  readonly groups: Record<HubspotType, Map<string, PropertyGroup>>
}

/** The name of the stamp that changes with every change of a record. */
export const MODIFIED_PROPERTY: Readonly<Record<HubspotType, string>> = {
  companies: 'hs_lastmodifieddate',
  contacts: 'lastmodifieddate',
}

export const DEFAULT_PROPERTIES: Readonly<Record<HubspotType, readonly string[]>> = {
  companies: ['createdate', 'domain', 'hs_lastmodifieddate', 'hs_object_id', 'name'],
  contacts: ['createdate', 'email', 'firstname', 'hs_object_id', 'lastmodifieddate', 'lastname'],
}

export function createPropertyRegistry(): PropertyRegistry {
  return {
    properties: { companies: byName(COMPANY_PROPERTIES), contacts: byName(CONTACT_PROPERTIES) },
    groups: {
      companies: byName([
        group('companyinformation', 'Company information'),
        group('enrichment', 'Enrichment'),
      ]),
      contacts: byName([
        group('contactinformation', 'Contact information'),
        group('enrichment', 'Enrichment'),
      ]),
    },
  }
}

/** Returns a definition with HubSpot's defaults. */
export function property(
  name: string,
  type: PropertyType,
  groupName: string,
  more: Partial<HubspotProperty> & { readonly readOnly?: boolean } = {},
): HubspotProperty {
  const { readOnly = false, ...rest } = more
  return {
    name,
    label: name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()),
    type,
    fieldType: FIELD_TYPES[type],
    description: '',
    groupName,
    options: [],
    displayOrder: -1,
    calculated: false,
    externalOptions: false,
    hasUniqueValue: false,
    hidden: false,
    hubspotDefined: true,
    formField: !readOnly,
    archived: false,
    modificationMetadata: { archivable: false, readOnlyDefinition: true, readOnlyValue: readOnly },
    ...rest,
  }
}

export function options(...values: readonly string[]): PropertyOption[] {
  return values.map((value, displayOrder) => ({ label: value, value, displayOrder, hidden: false }))
}

function byName<T extends { readonly name: string }>(list: readonly T[]): Map<string, T> {
  return new Map(list.map((item) => [item.name, item]))
}

function group(name: string, label: string): PropertyGroup {
  return { name, label, displayOrder: -1, archived: false }
}

const FIELD_TYPES: Readonly<Record<PropertyType, string>> = {
  string: 'text',
  number: 'number',
  date: 'date',
  datetime: 'date',
  enumeration: 'select',
  bool: 'booleancheckbox',
  phone_number: 'phonenumber',
}

const LIFECYCLE = options(
  'subscriber',
  'lead',
  'marketingqualifiedlead',
  'salesqualifiedlead',
  'opportunity',
  'customer',
  'evangelist',
  'other',
)

const custom = {
  hubspotDefined: false,
  modificationMetadata: { archivable: true, readOnlyDefinition: false, readOnlyValue: false },
}

const COMPANY_PROPERTIES: readonly HubspotProperty[] = [
  property('name', 'string', 'companyinformation', { label: 'Company name' }),
  property('domain', 'string', 'companyinformation', { label: 'Company Domain Name' }),
  property('website', 'string', 'companyinformation', { label: 'Website URL' }),
  property('phone', 'string', 'companyinformation', { fieldType: 'phonenumber' }),
  property('address', 'string', 'companyinformation'),
  property('city', 'string', 'companyinformation'),
  property('state', 'string', 'companyinformation'),
  property('zip', 'string', 'companyinformation'),
  property('country', 'string', 'companyinformation'),
  property('description', 'string', 'companyinformation', { fieldType: 'textarea' }),
  property('about_us', 'string', 'companyinformation', { fieldType: 'textarea' }),
  property('founded_year', 'string', 'companyinformation'),
  property('numberofemployees', 'number', 'companyinformation', { label: 'Number of Employees' }),
  property('annualrevenue', 'number', 'companyinformation'),
  property('is_public', 'bool', 'companyinformation', { options: options('true', 'false') }),
  property('industry', 'enumeration', 'companyinformation', {
    options: options(
      'COMPUTER_SOFTWARE',
      'LOGISTICS_AND_SUPPLY_CHAIN',
      'FOOD_PRODUCTION',
      'HOSPITAL_HEALTH_CARE',
      'TEXTILES',
      'ONLINE_MEDIA',
      'INFORMATION_TECHNOLOGY_AND_SERVICES',
      'FINANCIAL_SERVICES',
    ),
  }),
  property('lifecyclestage', 'enumeration', 'companyinformation', { fieldType: 'radio', options: LIFECYCLE }),
  property('type', 'enumeration', 'companyinformation', {
    options: options('PROSPECT', 'PARTNER', 'RESELLER', 'VENDOR', 'OTHER'),
  }),
  property('hubspot_owner_id', 'enumeration', 'companyinformation', { externalOptions: true }),
  property('profnet_url', 'string', 'enrichment', { label: 'Profile URL', ...custom }),
  property('hs_object_id', 'number', 'companyinformation', { readOnly: true }),
  property('createdate', 'datetime', 'companyinformation'),
  property('hs_lastmodifieddate', 'datetime', 'companyinformation', { readOnly: true }),
  property('hs_merged_object_ids', 'enumeration', 'companyinformation', {
    readOnly: true,
    externalOptions: true,
  }),
  property('num_associated_contacts', 'number', 'companyinformation', { readOnly: true, calculated: true }),
]

const CONTACT_PROPERTIES: readonly HubspotProperty[] = [
  property('email', 'string', 'contactinformation', { hasUniqueValue: false }),
  property('firstname', 'string', 'contactinformation', { label: 'First Name' }),
  property('lastname', 'string', 'contactinformation', { label: 'Last Name' }),
  property('company', 'string', 'contactinformation', { label: 'Company Name' }),
  property('jobtitle', 'string', 'contactinformation', { label: 'Job Title' }),
  property('phone', 'string', 'contactinformation', { fieldType: 'phonenumber' }),
  property('mobilephone', 'string', 'contactinformation', { fieldType: 'phonenumber' }),
  property('website', 'string', 'contactinformation'),
  property('city', 'string', 'contactinformation'),
  property('country', 'string', 'contactinformation'),
  property('work_email', 'string', 'contactinformation'),
  property('date_of_birth', 'string', 'contactinformation'),
  property('closedate', 'datetime', 'contactinformation'),
  property('hs_persona', 'enumeration', 'contactinformation', { options: options('persona_1', 'persona_2') }),
  property('hs_buying_role', 'enumeration', 'contactinformation', {
    fieldType: 'checkbox',
    options: options('CHAMPION', 'DECISION_MAKER', 'END_USER', 'OTHER'),
  }),
  property('lifecyclestage', 'enumeration', 'contactinformation', { fieldType: 'radio', options: LIFECYCLE }),
  property('hubspot_owner_id', 'enumeration', 'contactinformation', { externalOptions: true }),
  // "It is not possible to modify the Marketing contact status property using HubSpot's API endpoints" (its knowledge base,
  // "Manage marketing contacts settings for your integrations").
  property('hs_marketable_status', 'enumeration', 'contactinformation', {
    readOnly: true,
    options: options('true', 'false'),
  }),
  property('profnet_url', 'string', 'enrichment', { label: 'Profile URL', ...custom }),
  property('hs_object_id', 'number', 'contactinformation', { readOnly: true }),
  property('createdate', 'datetime', 'contactinformation'),
  property('lastmodifieddate', 'datetime', 'contactinformation', { readOnly: true }),
  property('hs_merged_object_ids', 'enumeration', 'contactinformation', {
    readOnly: true,
    externalOptions: true,
  }),
  property('hubspotscore', 'number', 'contactinformation', { readOnly: true, calculated: true }),
  property('associatedcompanyid', 'number', 'contactinformation'),
]
