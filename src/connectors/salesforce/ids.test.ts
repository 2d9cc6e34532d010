import { expect, test } from 'vitest'
import { longId } from './ids.ts'

// From Salesforce's documentation of the two forms, and one id of upper-case letters alone.
test.each([
  ['001A0000006Vm9r', '001A0000006Vm9rIAC'],
  ['001A0000006Vm9rIAC', '001A0000006Vm9rIAC'],
  ['ABCDEABCDEABCDE', 'ABCDEABCDEABCDE555'],
])('%s is %s', (id, long) => {
  expect(longId(id)).toBe(long)
})

test('an id of another object is no id', () => {
  expect(longId('001A0000006Vm9r', '003')).toBeUndefined()
  expect(longId('001A0000006Vm9r', '001')).toBe('001A0000006Vm9rIAC')
})

test.each(['', '003', "003Wx00000000' OR", '003Wx0000000001I', '003Wx0000000001IAAA', '003Wx000-000001'])(
  '%j is no id',
  (id) => {
    expect(longId(id)).toBeUndefined()
  },
)
