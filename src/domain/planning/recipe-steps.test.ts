import { expect, test } from 'vitest'
import { paidSteps } from './recipe-steps.ts'
import type { Recipe } from './recipes.ts'

test.each<[Recipe['steps'], string[], string[]]>([
  [['company.profile', 'company.logo'], ['industry', 'logo'], ['company.profile']],
  [['company.profile'], [], ['company.profile']],
  [['person.profile', 'contact.redeem'], ['email'], ['person.profile', 'contact.redeem:email-work']],
  [
    ['contact.redeem'],
    ['email_personal', 'mobile_phone'],
    ['contact.redeem:email-personal', 'contact.redeem:phone'],
  ],
  [['contact.redeem'], ['city'], []],
])('of %j with the fields %j these are paid for: %j', (steps, fields, paid) => {
  expect(paidSteps({ name: 'r', steps, fields })).toEqual(paid)
})
