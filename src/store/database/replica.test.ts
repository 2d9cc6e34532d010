import { expect, test } from 'vitest'
import { lsnOf } from './replica.ts'

test('places of the log are compared as numbers, over the boundary of their halves', () => {
  expect(lsnOf('0/10')).toBeLessThan(lsnOf('0/3000100'))
  expect(lsnOf('0/FFFFFFF0')).toBeLessThan(lsnOf('1/0'))
  expect(lsnOf('16/B374D848')).toBe(0x16b374d848n)
})

test('the header of a page of the log is nothing that a standby could lack', () => {
  expect(lsnOf('0/3000028')).toBe(lsnOf('0/3000000'))
  expect(lsnOf('0/3002018')).toBe(lsnOf('0/3002000'))
  expect(lsnOf('0/3000060')).toBeGreaterThan(lsnOf('0/3000028'))
})
