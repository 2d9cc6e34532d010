import { expect, test } from 'vitest'
import type { UndoRow } from '../../app/records/undo.ts'
import { undoPlanText } from './undo-plan-text.ts'

const plan = (rows: UndoRow[]) => ({
  runId: 'r1',
  connector: 'hubspot',
  entity: 'companies',
  plan: true,
  restored: rows.filter(({ outcome }) => outcome === 'would_restore').length,
  already: rows.filter(({ outcome }) => outcome === 'already').length,
  left: rows.filter(({ outcome }) => outcome === 'left').length,
  rows,
})

test('the plan of an undo names each field with its values, and why one is left', () => {
  const text = undoPlanText(
    plan([
      { record: '7', field: 'city', outcome: 'would_restore', old: ' Bern ', new: 'Basel', now: 'Basel' },
      { record: '7', field: 'industry', outcome: 'would_restore', old: null, new: 'Bank', now: 'Bank' },
      {
        record: '8',
        field: 'city',
        outcome: 'already',
        old: 'Bonn',
        new: 'Ulm',
        now: 'Bonn',
        mergedInto: '9',
      },
      {
        record: '8',
        field: 'phone',
        outcome: 'left',
        old: null,
        new: '1',
        now: '2',
        reason: 'it was changed',
      },
    ]),
  )
  expect(text).toBe(`run r1: 2 fields would be restored, 1 not touched, 1 already have the old value
hubspot:companies:7
  city      "Basel" → " Bern "
  industry  "Bank" → (blank)
hubspot:companies:8 (merged into 9)
  city   has "Bonn" already
  phone  not touched, it was changed: has "2", the run wrote "1" over (blank)
nothing was written
`)
})

test('a large plan is cut, and says where the rest is', () => {
  const rows = Array.from({ length: 60 }, (_, at): UndoRow => ({
    record: String(at),
    field: 'description',
    outcome: 'would_restore',
    old: 'x'.repeat(5_000),
    new: 'y',
    now: 'y',
  }))
  const text = undoPlanText(plan(rows))
  expect(text.split('\n')).toHaveLength(1 + 2 * 50 + 1 + 1 + 1)
  expect(text).toContain('and 10 more records (--json shows all)')
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(120)
})
