import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance, letters, nearNames } from './near-names.ts'

test.each([
  ['', '', 0],
  ['a', '', 1],
  ['', 'abc', 3],
  ['industry', 'industry', 0],
  ['industry', 'indutry', 1],
  ['indutry', 'industry', 1],
  ['industry', 'indastry', 1],
  ['industry', 'indsutry', 1],
  ['ab', 'ba', 1],
  ['abcd', 'badc', 2],
  ['abc', 'cba', 2],
  ['ca', 'abc', 3],
  ['kitten', 'sitting', 3],
])('from %j to %j it is %i letters', (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance)
})

test.each([
  ['Number of Employees', 'numberofemployees'],
  ['number_of-employees', 'numberofemployees'],
  ['ﬁrst Name 2', 'firstname2'],
  ['x'.repeat(61), 'x'.repeat(60)],
])('the letters of %j are %j', (name, expected) => {
  expect(letters(name)).toBe(expected)
})

test.each<[string, string[], string[]]>([
  ['indutry', ['industry', 'country', 'name'], ['industry']],
  ['Industry', ['industry'], ['industry']],
  ['employees', ['numberofemployees', 'employee'], ['employee', 'numberofemployees']],
  ['numberofemployees', ['employees'], ['employees']],
  ['name', ['full_name', 'mane', 'nam', 'nome', 'other'], ['nam', 'nome', 'full_name']],
  ['nam', ['surname'], []],
  ['name', ['surname'], ['surname']],
  ['phon', ['phone', 'fax'], ['phone']],
  ['ab', ['abc', 'abcd'], ['abc']],
  ['xyz', ['industry'], []],
  ['---', ['', 'industry'], []],
])('near %j of %j are %j', (name, known, expected) => {
  expect(nearNames(name, known)).toEqual(expected)
})

test('as many are named as are asked for', () => {
  expect(nearNames('name', ['mane', 'nam', 'nome', 'namo'], 2)).toEqual(['nam', 'nome'])
})

test('a plain word has the letters that the tables of Unicode would give it', () => {
  const byTables = (name: string) =>
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '')
      .slice(0, 60)
  const some = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'azAZ09 _-éİſ'), maxLength: 70 }),
    fc.string({ unit: fc.constantFrom(...'azAZ09'), maxLength: 62 }),
  )
  fc.assert(fc.property(some, (name) => void expect(letters(name)).toBe(byTables(name))))
})
