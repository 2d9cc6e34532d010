import { expect, test } from 'vitest'
import type { FieldRule } from '../../domain/field-policy/field-policy.ts'
import type { Patch } from '../../domain/record.ts'
import { placeable, type RecordForm } from './record-form.ts'

const text = { tagline: { set: 'Ropes' }, description: { set: 'We make ropes' }, city: { set: 'Bern' } }

function placed(patch: Patch, by: { rules?: Record<string, FieldRule>; unfit?: string } = {}): string[] {
  const { rules = {}, unfit } = by
  const form: RecordForm = {
    has: (field) => field !== 'about',
    sharing: (field) => (field === 'city' ? ['city'] : ['description', 'tagline']),
    mapping: () => '',
    misfits: () => ({}),
    standing: (all) =>
      Object.fromEntries(
        Object.entries(all).flatMap(([field, change]) =>
          'set' in change && field !== unfit ? [[field, change.set]] : [],
        ),
      ),
  }
  return Object.keys(placeable(patch, form, (field) => rules[field] ?? 'fill_blank'))
}

test('of two fields on one property the first of the mapping is kept', () => {
  expect(placed({ ...text, about: { set: 'x' } })).toEqual(['description', 'city'])
})

test('the other is kept where the first has no value, or may not be written, or does not fit', () => {
  const { tagline, city } = text
  expect(placed({ tagline, city })).toEqual(['tagline', 'city'])
  expect(placed(text, { rules: { description: 'never' } })).toEqual(['tagline', 'city'])
  expect(placed(text, { unfit: 'description' })).toEqual(['tagline', 'city'])
})

test('what may never be written stays, so that its reason is told', () => {
  expect(placed(text, { rules: { description: 'never', tagline: 'never' } })).toHaveLength(3)
})
