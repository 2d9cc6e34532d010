import { describe, expect, test } from 'vitest'
import { salesforceMapping } from './mapping.ts'
import { parseBulkError } from './api/bulk-error.ts'
import { readSaveError } from './save-error.ts'

const mapping = salesforceMapping.entities['Contact']!
const read = (statusCode: string, fields: string[] = [], message = 'said') =>
  readSaveError('1', { statusCode, message, fields }, mapping)

describe('an error of one record', () => {
  test.each([
    ['INVALID_EMAIL_ADDRESS', ['Email'], 'email'],
    ['STRING_TOO_LONG', ['Title'], 'job_title'],
    ['INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', ['Size_Band__c'], 'Size_Band__c'],
    ['INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY', ['AccountId'], 'AccountId'],
  ])('%s rejects it under its field', (code, fields, field) => {
    expect(read(code, fields, 'invalid: jane@norvik.example')).toMatchObject({
      status: 'rejected',
      code,
      field,
    })
    expect(read(code, fields, 'invalid: jane@norvik.example').reason).not.toContain('jane')
  })

  test.each([
    'DUPLICATES_DETECTED',
    'FIELD_CUSTOM_VALIDATION_EXCEPTION',
    'INSUFFICIENT_ACCESS_OR_READONLY',
    'SOMETHING_NEW',
  ])('%s rejects it', (code) => {
    expect(read(code)).toMatchObject({ status: 'rejected', code })
    expect(read(code)).not.toHaveProperty('field')
  })

  test.each(['ENTITY_IS_DELETED', 'CANNOT_UPDATE_CONVERTED_LEAD', 'INVALID_CROSS_REFERENCE_KEY'])(
    '%s skips it',
    (code) => {
      expect(read(code)).toMatchObject({ status: 'skipped' })
    },
  )

  test('a wrong reference is not a missing record', () => {
    expect(read('INVALID_CROSS_REFERENCE_KEY', ['ReportsToId'])).toMatchObject({ status: 'rejected' })
  })

  test.each(['UNABLE_TO_LOCK_ROW', 'SERVER_UNAVAILABLE', 'QUERY_TIMEOUT'])('%s is retried', (code) => {
    expect(read(code)).toMatchObject({ status: 'retry', afterMs: expect.any(Number) })
  })

  test('removes everything from an unknown message that could be a value', () => {
    const said =
      'Conflict with jane@norvik.example, +49 (30) 1234-567 at https://norvik.example/jane?x=1 today'
    expect(read('SOMETHING_NEW', [], said)).toMatchObject({ reason: 'Conflict with … … at … today' })
  })
})

describe('an error in the results of a bulk job', () => {
  test.each([
    [
      'INVALID_EMAIL_ADDRESS:Email: invalid email address: a:b:Email --',
      {
        statusCode: 'INVALID_EMAIL_ADDRESS',
        message: 'Email: invalid email address: a:b',
        fields: ['Email'],
      },
    ],
    ['ENTITY_IS_DELETED:entity is deleted:--', { statusCode: 'ENTITY_IS_DELETED', fields: [] }],
    ['ENTITY_IS_DELETED:entity is deleted: --', { statusCode: 'ENTITY_IS_DELETED', fields: [] }],
    [
      'REQUIRED_FIELD_MISSING:Required fields are missing: [A, B]:A,B --',
      { statusCode: 'REQUIRED_FIELD_MISSING', fields: ['A', 'B'] },
    ],
    [
      'FIELD_CUSTOM_VALIDATION_EXCEPTION:two\nlines:Title --;X:y: --',
      { fields: ['Title'], message: 'two\nlines' },
    ],
    ['', { statusCode: 'UNKNOWN', fields: [] }],
  ])('%j', (text, error) => {
    expect(parseBulkError(text)).toMatchObject(error)
  })
})
