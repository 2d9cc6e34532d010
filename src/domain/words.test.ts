import { expect, test } from 'vitest'
import { networkWord, objectKinds, openTaskStatuses, operations, taskStatuses } from './words.ts'

// The ledger keeps these words: rows written under another spelling would be lost.
test('the words of the ledger', () => {
  expect(objectKinds).toEqual(['company', 'person'])
  expect(taskStatuses.join(' ')).toBe('queued looking_up ready written unchanged skipped rejected parked')
  expect(openTaskStatuses).toEqual(['queued', 'looking_up', 'ready'])
  expect(operations.slice(0, 8).join(' ')).toBe(
    'company.profile person.profile company.logo contact.lookup contact.redeem company.lookup company.enrich account.profile',
  )
  expect(networkWord).toBe('profnet')
})
