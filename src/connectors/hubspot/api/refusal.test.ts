import { expect, test } from 'vitest'
import { readRefusal } from './refusal.ts'
import { batchErrorSchema, refusalSchema } from './wire.ts'

const listed =
  'Property values were not valid: [{"isValid":false,"message":"x@y is wrong","error":"INVALID_EMAIL","name":"email"}]'

test.each([
  [
    'its list of errors',
    {
      category: 'VALIDATION_ERROR',
      errors: [{ code: 'INVALID_OPTION', context: { propertyName: ['industry'] } }],
    },
    { code: 'INVALID_OPTION', property: 'industry' },
  ],
  [
    'its message',
    { category: 'VALIDATION_ERROR', message: listed },
    { code: 'INVALID_EMAIL', property: 'email' },
  ],
  [
    'a rule that another property makes it required',
    {
      category: 'VALIDATION_ERROR',
      errors: [
        {
          code: 'MISSING_CONDITIONAL_REQUIRED_PROPERTY',
          message: 'lead_tier is required because of a conditional property rule based on [hs_lead_status]',
          context: { propertyName: ['lead_tier'] },
        },
      ],
    },
    { code: 'MISSING_CONDITIONAL_REQUIRED_PROPERTY', property: 'lead_tier', because: 'hs_lead_status' },
  ],
  ['its category', { category: 'FORBIDDEN' }, { code: 'FORBIDDEN' }],
  [
    'a conflict',
    { category: 'CONFLICT', message: 'Contact already exists. Existing ID: 5' },
    { code: 'CONFLICT', property: 'email' },
  ],
  [
    'a context that is a text',
    { category: 'X', errors: [{ code: 'Y', context: '{missingScopes=[a]}' }] },
    { code: 'Y' },
  ],
])('the code of a refusal is read from %s', (_, body, expected) => {
  expect(readRefusal(refusalSchema.parse(body))).toEqual(expected)
  expect(readRefusal(batchErrorSchema.parse(body))).toEqual(expected)
})

test('a refusal without a body has its status as code', () => {
  expect(readRefusal(refusalSchema.parse({}), 413)).toEqual({ code: 'HTTP_413' })
})
