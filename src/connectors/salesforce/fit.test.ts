import { describe, expect, test } from 'vitest'
import type { CrmMapping, FieldType } from '../../domain/mapping/mapping.ts'
import type { FieldChange } from '../../domain/record.ts'
import { fitPatch, stampOf } from './fit.ts'
import type { DescribedObject, SalesforceField } from './api/schema-cache.ts'

const field = (name: string, type: FieldType, more: Partial<SalesforceField> = {}): SalesforceField => ({
  name,
  label: name,
  type,
  writable: true,
  custom: false,
  filterable: true,
  nillable: true,
  createable: true,
  wholeDigits: 0,
  lacksRight: false,
  ...more,
})

const object: DescribedObject = {
  name: 'Account',
  keyPrefix: '001',
  updateable: true,
  createable: true,
  children: new Map(),
  fields: new Map(
    [
      field('Name', 'text', { nillable: false, maxLength: 10 }),
      field('NumberOfEmployees', 'integer', { wholeDigits: 8 }),
      field('Score__c', 'number', { wholeDigits: 2 }),
      field('Phone', 'phone', { maxLength: 40 }),
      field('Formula__c', 'text', { writable: false }),
      field('Band__c', 'option', { options: [{ value: 'S', label: 'Small' }], restricted: true }),
      field('Paydirt_Status__c', 'text', { maxLength: 40 }),
      field('Paydirt_Source__c', 'text', { writable: false }),
    ].map((one) => [one.name, one]),
  ),
}

const mapping: CrmMapping = {
  own: { status: 'Paydirt_Status__c', enrichedAt: 'Paydirt_Enriched_At__c', source: 'Paydirt_Source__c' },
  entities: {
    Account: {
      object: 'company',
      identity: {},
      fields: {
        company_name: { property: 'Name' },
        employees: { property: 'NumberOfEmployees' },
        followers: { property: 'Score__c' },
        headquarters: { property: 'Phone' },
        tagline: { property: 'Formula__c' },
        employee_range: { property: 'Band__c' },
        address: { property: 'Missing__c' },
      },
    },
  },
}

describe('a change of a field', () => {
  test.each<[string, string, FieldChange, unknown]>([
    ['sets a text', 'company_name', { set: ' Norvik ' }, { Name: 'Norvik' }],
    ['cuts a text', 'company_name', { set: 'Norvik Shipping' }, { Name: 'Norvik Sh…' }],
    ['sets a number that is written as text', 'employees', { set: '1,234' }, { NumberOfEmployees: 1234 }],
    ['clears with null', 'employees', { clear: true }, { NumberOfEmployees: null }],
    ['finds an option by its label', 'employee_range', { set: 'small' }, { Band__c: 'S' }],
    ['keeps zero', 'employees', { set: 0 }, { NumberOfEmployees: 0 }],
    ['is nothing where nothing is mapped', 'website', { set: 'https://a.example' }, {}],
  ])('%s', (_, name, change, body) => {
    const fitted = fitPatch({ [name]: change }, mapping.entities['Account']!, object)
    expect(fitted).toEqual({ body, leftOut: [] })
  })

  test.each<[string, string, FieldChange, string]>([
    ['a blank', 'company_name', { set: '  ' }, 'BLANK'],
    ['a clear of a required field', 'company_name', { clear: true }, 'REQUIRED'],
    ['a number of nine digits', 'employees', { set: 123_456_789 }, 'TOO_LARGE'],
    ['a number that is too large in front of the point', 'followers', { set: 100.5 }, 'TOO_LARGE'],
    ['a word in the place of a number', 'employees', { set: 'many' }, 'NOT_A_NUMBER'],
    ['a value outside a restricted picklist', 'employee_range', { set: 'huge' }, 'NO_SUCH_OPTION'],
    ['a field that cannot be written', 'tagline', { set: 'x' }, 'READ_ONLY'],
    ['a field that is not there', 'address', { set: 'x' }, 'NO_SUCH_FIELD'],
  ])('is left out: %s', (_, name, change, code) => {
    const { body, leftOut } = fitPatch({ [name]: change }, mapping.entities['Account']!, object)
    expect(body).toEqual({})
    expect(leftOut).toEqual([{ field: name, code, reason: expect.any(String) }])
  })

  test('reads a phone by the country of the same patch', () => {
    const patch = { country_code: { set: 'DE' }, headquarters: { set: '030 901820' } }
    expect(fitPatch(patch, mapping.entities['Account']!, object).body).toEqual({ Phone: '+4930901820' })
  })
})

test('our own fields are written as far as the org has them and lets us', () => {
  expect(stampOf({ Name: 'Norvik' }, mapping, 'Account', object, 0)).toEqual({
    Paydirt_Status__c: 'enriched',
  })
})
