import { expect, test } from 'vitest'
import { boughtFieldNames } from './fields.ts'
import {
  factSlots,
  freeOperations,
  operationRow,
  operationsAbout,
  paces,
  personalOperations,
  slotRow,
  slotsOf,
  stepOperations,
} from './operations.ts'
import { defaultPrices, pricedSlots } from './planning/prices.ts'
import { objectKinds, operations } from './words.ts'

test('forgetting a subject covers every operation about it, and not the logo that others share', () => {
  expect(operationsAbout('company').sort()).toEqual(['company.enrich', 'company.lookup', 'company.profile'])
  expect(operationsAbout('person').sort()).toEqual([
    'contact.lookup',
    'contact.redeem',
    'person.lookup',
    'person.profile',
  ])
})

test('every answer about a person is personal', () => {
  expect(personalOperations).toEqual(expect.arrayContaining(operationsAbout('person')))
})

test('a redemption has a slot a contact type, any other operation one', () => {
  expect(slotsOf('contact.redeem')).toEqual([
    'contact.redeem:email-work',
    'contact.redeem:email-personal',
    'contact.redeem:phone',
  ])
  expect(slotsOf('company.profile')).toEqual(['company.profile'])
})

test('free operations have no price, and those of unknown price no default', () => {
  expect(freeOperations).toEqual(['company.logo', 'account.profile', 'account.usage'])
  const unknown = pricedSlots.filter((slot) => !(slot in defaultPrices))
  expect(unknown).toEqual(['company.enrich'])
  expect(defaultPrices).toMatchObject({
    'company.profile': 10_000n,
    'contact.redeem:email-work': 150_000n,
    'contact.redeem:phone': 300_000n,
  })
})

test.each(objectKinds)(
  'each field of a %s comes from one of its steps, and no unknown field does',
  (object) => {
    const told = factSlots.flatMap((slot) => slotRow(slot).tells[object])
    expect(new Set(told)).toEqual(new Set(boughtFieldNames(object)))
  },
)

test('an operation fills fields of the objects whose recipes may have it, and of no other', () => {
  for (const operation of operations) {
    for (const object of objectKinds) {
      const fields = slotsOf(operation).flatMap((slot) => slotRow(slot).tells[object])
      expect([operation, object, fields.length > 0]).toEqual([
        operation,
        object,
        operationRow(operation).stepOf.includes(object),
      ])
    }
  }
  const others = operations.filter((operation) => !(stepOperations as string[]).includes(operation))
  expect(others.filter((operation) => operationRow(operation).kind === 'lookup')).toEqual(['person.lookup'])
})

test('each operation has its pace, and names the profiles that further steps need', () => {
  const rows = stepOperations.map((operation) => {
    const { pace, namesProfileOf } = operationRow(operation)
    return [operation, pace, namesProfileOf]
  })
  expect(rows).toEqual([
    ['company.profile', 'lookup', []],
    ['person.profile', 'lookup', ['person', 'company']],
    ['company.logo', 'lookup', []],
    ['contact.lookup', 'lookup', ['person']],
    ['contact.redeem', 'redemption', []],
    ['company.lookup', 'lookup', ['company']],
    ['company.enrich', 'enrichment', ['company']],
  ])
})

test('searches and insights are bought anew after a day, and what an action did is never taken for another', () => {
  const windowOf = (kind: string) =>
    new Set(
      operations
        .filter((operation) => operationRow(operation).kind === kind)
        .map((operation) => JSON.stringify(operationRow(operation).freshness)),
    )
  expect([...windowOf('search')]).toEqual(['{"foundDays":1,"notFoundDays":1}'])
  expect([...windowOf('action')]).toEqual(['{"foundDays":0,"notFoundDays":0}'])
})

test('each pace has an operation', () => {
  expect(new Set(operations.map((operation) => operationRow(operation).pace))).toEqual(new Set(paces))
})

test('each operation says by what its key names a subject', () => {
  expect(stepOperations.map((operation) => [operation, operationRow(operation).keyedBy])).toEqual([
    ['company.profile', ['profile']],
    ['person.profile', ['profile']],
    ['company.logo', ['domain']],
    ['contact.lookup', ['email', 'phone', 'name']],
    ['contact.redeem', ['profile', 'id']],
    ['company.lookup', ['domain', 'id', 'page']],
    ['company.enrich', ['profile', 'domain', 'id', 'page']],
  ])
})
