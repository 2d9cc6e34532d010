import { expect, test } from 'vitest'
import type { UnfinishedAction } from '../actions/list-actions.ts'
import { actionFindings } from './action-findings.ts'

const action = (state: UnfinishedAction['state'], since: string): UnfinishedAction => ({
  id: '1',
  operation: 'monitor.create',
  place: 1,
  state,
  body: {},
  since,
  sentAt: null,
  problem: null,
  todo: '',
})

test('the doctor counts actions in doubt before those that were not sent', () => {
  expect(actionFindings([])).toEqual([])
  const intent = action('intent', '2026-11-22T10:00:00.000Z')
  expect(actionFindings([intent])[0]?.message).toBe(
    '1 action not sent yet, the oldest since 2026-11-22T10:00:00.000Z',
  )
  const doubt = action('in_doubt', '2026-11-22T11:00:00.000Z')
  expect(actionFindings([intent, doubt, { ...doubt, state: 'sent' }])).toMatchObject([
    {
      status: 'warning',
      message: '2 actions at the service in doubt, the oldest since 2026-11-22T11:00:00.000Z',
    },
  ])
})
