import { describe, expect, test } from 'vitest'
import { validateProperties } from '../../src/sandbox/hubspot/validate.ts'
import { property } from '../../src/sandbox/hubspot/properties.ts'
import type { SalesforceError } from '../../src/sandbox/salesforce/errors.ts'
import { createSchema } from '../../src/sandbox/salesforce/schema.ts'
import { readValues } from '../../src/sandbox/salesforce/write.ts'

/** Refused by HubSpot in the words that its users report. */
const notMidnight = '1606768561954 is at 20:36:1.954 UTC, not midnight!'

describe('the stand-in of HubSpot', () => {
  const properties = new Map(
    (['date', 'datetime'] as const).map((type) => [
      type as string,
      property(type, type, 'companyinformation'),
    ]),
  )
  test.each([
    ['date', '2026-11-20', '2026-11-20', undefined],
    ['date', '1652659200000', '2022-05-16', undefined],
    ['date', '1606768561954', undefined, notMidnight],
    ['date', '2026-11-20T00:00:00Z', undefined, '2026-11-20T00:00:00Z was not a valid date.'],
    ['date', '2026-02-30', undefined, '2026-02-30 was not a valid date.'],
    ['datetime', '1606768561954', '2020-11-30T20:36:01.954Z', undefined],
    ['datetime', '2026-11-20T08:00:00+01:00', '2026-11-20T07:00:00.000Z', undefined],
    ['datetime', '2026-11-20T08:00:00', undefined, '2026-11-20T08:00:00 was not a valid date.'],
    ['datetime', '2026-11-20', undefined, '2026-11-20 was not a valid date.'],
  ])('takes or refuses the %s %s', (name, value, stored, refusal) => {
    const { values, invalid } = validateProperties({ [name]: value }, properties, {
      nullValues: 'refused',
      acceptedTlds: new Set(),
    })
    expect(values.get(name)).toBe(stored)
    expect(invalid.map(({ code, message }) => [code, message])).toEqual(
      refusal === undefined ? [] : [['INVALID_DATE', refusal]],
    )
  })
})

describe('the stand-in of Salesforce', () => {
  const account = createSchema().Account
  const read = (name: string, value: unknown) => {
    try {
      const { values, errors } = readValues(account, { [name]: value }, 'record', false)
      return errors[0]?.statusCode ?? values[name]
    } catch (error) {
      return (error as SalesforceError).errorCode
    }
  }
  const [day, time, score, ad] = [
    'Paydirt_Last_News_At__c',
    'Paydirt_Signals_Checked_At__c',
    'Paydirt_Signal_Score__c',
    'Paydirt_Advertising__c',
  ]
  test.each([
    [day, '2026-11-20', '2026-11-20'],
    [day, '2026-11-20Z', '2026-11-20'],
    [day, '2026-11-20T00:00:00Z', 'JSON_PARSER_ERROR'],
    [day, '2026-02-30', 'JSON_PARSER_ERROR'],
    [day, '1699-12-31', 'JSON_PARSER_ERROR'],
    [time, '2026-11-20T08:00:00.987Z', '2026-11-20T08:00:00.000+0000'],
    [time, '2026-11-20T08:00:00', 'JSON_PARSER_ERROR'],
    [time, '2026-11-20', 'JSON_PARSER_ERROR'],
    [score, 41.256, 41.26],
    [score, 1e17, 'NUMBER_OUTSIDE_VALID_RANGE'],
    [ad, 'No', 'No'],
    [ad, 'no', 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST'],
    [ad, false, 'JSON_PARSER_ERROR'],
  ])('takes or refuses %s %j', (name, value, stored) => {
    expect(read(name!, value)).toBe(stored)
  })
})
