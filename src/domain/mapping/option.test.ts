import { describe, expect, test } from 'vitest'
import { matchOption, matchOptions } from './option.ts'

const options = [
  { value: 'FOOD_AND_DRINK', label: 'Catering' },
  { value: 'food_and_arms', label: 'Both' },
  { value: 'Robots, Tools', label: 'Machines' },
  { value: 'TOOLS', label: 'Hammers & Saws' },
]

describe('the option that a text means', () => {
  test.each([
    ['FOOD_AND_DRINK', 'FOOD_AND_DRINK'],
    [' TOOLS ', 'TOOLS'],
    ['Food & Drink', 'FOOD_AND_DRINK'],
    ['food and drink', 'FOOD_AND_DRINK'],
    ['Food, Drink', 'FOOD_AND_DRINK'],
    ['FOOD & ARMS', 'food_and_arms'],
    ['catering', 'FOOD_AND_DRINK'],
    ['hammers AND saws', 'TOOLS'],
    ['Foods', undefined],
    ['&', undefined],
    ['', undefined],
  ])('%j is %s', (text, value) => {
    expect(matchOption(text, { options })).toBe(value)
  })

  test('is the one that the table names, by value or label', () => {
    const table = { 'Eating & Drinking': 'catering', Sawing: 'TOOLS', Lost: 'nowhere' }
    expect(matchOption('eating and drinking', { options }, table)).toBe('FOOD_AND_DRINK')
    expect(matchOption('sawing', { options }, table)).toBe('TOOLS')
    expect(matchOption('lost', { options }, table)).toBeUndefined()
  })

  test('is none where there are none', () => {
    expect(matchOption('x', {})).toBeUndefined()
  })
})

test.each([
  [['Robots, Tools'], ['Robots, Tools']],
  [['tools, catering'], ['TOOLS', 'FOOD_AND_DRINK']],
  [['tools; catering'], ['TOOLS', 'FOOD_AND_DRINK']],
  [['tools|catering'], ['TOOLS', 'FOOD_AND_DRINK']],
  [['tools\ncatering'], ['TOOLS', 'FOOD_AND_DRINK']],
  [['Robots, Tools; catering'], ['Robots, Tools', 'FOOD_AND_DRINK']],
  [['tools', 'Hammers & Saws', 'x'], ['TOOLS']],
])('the options of %j are %j', (texts, values) => {
  expect(matchOptions(texts, { options })).toEqual(values)
})
