import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { markedName, nameByMark } from './declared.ts'
import { hasDrift, planMonitors, type MonitorStep } from './monitor-plan.ts'

const spain = {
  name: 'spain',
  fields: { detection_mode: 'signal_first', signal_types: ['expansions'], status: 'active' },
}
type Shown = Parameters<typeof planMonitors>[1][number]
const shown = (id: string, fields: object = {}, name = markedName('spain')): Shown => ({
  id,
  fields: { name, ...spain.fields, ...fields },
})
const differing = (sent: Readonly<Record<string, unknown>>, monitor: Readonly<Record<string, unknown>>) =>
  Object.keys(sent).filter((field) => field in monitor && !isDeepStrictEqual(sent[field], monitor[field]))

function plan(
  monitors: readonly Shown[],
  known: Record<string, string> = {},
  declared = [spain],
): MonitorStep[] {
  return planMonitors(declared, monitors, new Map(Object.entries(known)), differing)
}
const brief = (steps: readonly MonitorStep[]) =>
  steps.map((step) => [step.do, 'id' in step ? step.id : null].filter((part) => part !== null).join(' '))

describe('the step of a declared monitor', () => {
  test.each<[string, Shown[], Record<string, string>, string[]]>([
    ['none is there', [], {}, ['create']],
    ['it is there by its mark', [shown('1')], {}, ['nothing 1']],
    [
      'somebody took its mark away, and the ledger knows it',
      [shown('1', {}, 'Spain')],
      { spain: '1' },
      ['update 1'],
    ],
    ['one of the same name without a mark is another’s', [shown('1', {}, 'spain')], {}, ['create']],
    ['a field differs', [shown('1', { signal_types: ['jobs'] })], {}, ['update 1']],
    ['it was activated at the service', [shown('1', { status: 'draft' })], {}, ['update 1']],
    [
      'its mode differs',
      [shown('1', { detection_mode: 'company_first', status: 'draft' })],
      {},
      ['replace 1'],
    ],
    ['several bear its mark', [shown('1'), shown('2')], {}, ['decide']],
    [
      'a copy stands beside the one that the ledger knows',
      [shown('1'), shown('2')],
      { spain: '2' },
      ['nothing 2', 'delete 1'],
    ],
    ['the ledger knows one that is gone', [shown('1')], { spain: '9' }, ['nothing 1']],
    ['a foreign one is there', [shown('7', {}, 'Theirs')], {}, ['create']],
  ])('where %s', (_, monitors, known, steps) => {
    expect(brief(plan(monitors, known))).toEqual(steps)
  })

  test('is a pause where nothing else differs', () => {
    const paused = { name: 'spain', fields: { ...spain.fields, status: 'paused' } }
    expect(plan([shown('1')], {}, [paused])).toMatchObject([{ do: 'pause', fields: { status: 'paused' } }])
  })

  test('has only what differs, and never the value of a header', () => {
    const secret = { name: 'spain', fields: { ...spain.fields, webhook_headers: { 'X-Secret': 'one' } } }
    const steps = plan([shown('1', { webhook_headers: { 'X-Secret': 'other' }, extra: 'theirs' })], {}, [
      secret,
    ])
    expect(steps).toMatchObject([
      { do: 'update', changes: [{ field: 'webhook_headers', declared: ['x-secret'], shown: ['x-secret'] }] },
    ])
    expect(JSON.stringify(steps.map((step) => 'changes' in step && step.changes))).not.toContain('other')
  })
})

test('a monitor of ours that the settings do not name is deleted, and no other', () => {
  const steps = plan([shown('1'), shown('2', {}, 'Theirs'), shown('3', {}, 'Italy')], { italy: '3' }, [])
  expect(brief(steps)).toEqual(['delete 1', 'delete 3'])
  expect(hasDrift(steps)).toBe(true)
  expect(hasDrift(plan([shown('1')]))).toBe(false)
})

test.each([
  ['dach [paydirt dach]', 'dach'],
  ['Renamed by a person [paydirt dach]  ', 'dach'],
  ['dach', undefined],
  ['[paydirt DACH]', undefined],
  ['dach [paydirt dach] copy', undefined],
  [7, undefined],
])('%j bears the mark %j', (name, mark) => {
  expect(nameByMark(name)).toBe(mark)
})
