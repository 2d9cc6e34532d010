import { describe, expect, test } from 'vitest'
import type { FieldRule } from '../../domain/field-policy/field-policy.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import type { OpenIntent } from '../../store/writes/write-intents.ts'
import { decideWrite } from './write-decision.ts'

const task = (patch: Patch) => ({
  id: 1n,
  runId: 'r',
  recordId: '7',
  identity: {},
  steps: [],
  patch,
  reason: null,
})
const present = (values: Record<string, FieldValue>) => ({ state: 'present' as const, values })
const intent = (field: string, old: FieldValue | null, value: FieldValue): OpenIntent => ({
  taskId: 1n,
  field,
  old,
  new: value,
})

function judged(
  values: Record<string, FieldValue>,
  patch: Patch,
  by: { ours?: Record<string, FieldValue>; open?: OpenIntent[]; rule?: FieldRule } = {},
) {
  const { ours = {}, open = [], rule = 'fill_blank' } = by
  return decideWrite(task(patch), present(values), { ours, open, rule: () => rule })
}

const pilot: Patch = { job_title: { set: 'Pilot' } }

describe('what a first attempt writes', () => {
  test('is what the rules allow, and tells blanks from values that give place', () => {
    expect(
      judged({ city: 'Bern' }, { ...pilot, city: { set: 'Basel' } }, { rule: 'overwrite' }),
    ).toMatchObject({
      kind: 'write',
      patch: { job_title: { set: 'Pilot' }, city: { set: 'Basel' } },
      replaces: new Set(['city']),
      done: {},
    })
  })

  test.each<[string, Record<string, FieldValue>, FieldRule, Record<string, FieldValue>, string]>([
    ['filled', { job_title: 'Cook' }, 'fill_blank', {}, 'every field found is filled already'],
    ['never', {}, 'never', {}, 'never written by policy: job_title'],
    ['edited', { job_title: 'Cook' }, 'overwrite', { job_title: 'Baker' }, 'edited by a person: job_title'],
    ['cleared', {}, 'fill_blank', { job_title: 'Baker' }, 'edited by a person: job_title'],
  ])('is nothing where all is kept (%s), and the reason says why', (_, values, rule, ours, reason) => {
    expect(judged(values, pilot, { rule, ours })).toEqual({
      kind: 'end',
      status: 'unchanged',
      reason,
      unknown: [],
    })
  })

  test.each([
    [{ state: 'gone' as const }, 'the record is gone'],
    [{ state: 'merged' as const, into: '9' }, 'the record was merged into 9'],
    [{ state: 'converted' as const }, 'the lead was converted'],
  ])('is nothing in a record that is %o', (record, reason) => {
    const by = { ours: {}, open: [intent('city', null, 'Bern')], rule: () => 'overwrite' as const }
    expect(decideWrite(task(pilot), record, by)).toEqual({
      kind: 'end',
      status: 'skipped',
      reason,
      unknown: ['city'],
    })
  })
})

describe('after an attempt that died', () => {
  const open = [intent('job_title', null, 'Pilot')]

  test('what stands there counts as written, and is not written again', () => {
    expect(judged({ job_title: 'Pilot' }, pilot, { open })).toMatchObject({
      kind: 'written',
      done: pilot,
      replaces: new Set(),
      unknown: [],
    })
  })

  test('what does not stand there is written, and the other fields with it', () => {
    expect(judged({}, { ...pilot, city: { set: 'Bern' } }, { open })).toMatchObject({
      kind: 'write',
      patch: { job_title: { set: 'Pilot' }, city: { set: 'Bern' } },
      done: {},
    })
  })

  test('a half of the fields may stand there', () => {
    const both = { ...pilot, city: { set: 'Bern' } }
    expect(
      judged({ job_title: 'Pilot' }, both, { open: [...open, intent('city', null, 'Bern')] }),
    ).toMatchObject({
      kind: 'write',
      patch: { city: { set: 'Bern' } },
      done: pilot,
    })
  })

  test('an old value that gave place is still known to have been one', () => {
    const replaced = [intent('job_title', 'Cook', 'Pilot')]
    expect(judged({ job_title: 'Pilot' }, pilot, { open: replaced, rule: 'overwrite' })).toMatchObject({
      kind: 'written',
      replaces: new Set(['job_title']),
    })
  })

  test('a third value is a person\u2019s, and stays under every rule', () => {
    expect(judged({ job_title: 'Baker' }, pilot, { open, rule: 'overwrite' })).toEqual({
      kind: 'end',
      status: 'unchanged',
      reason: 'edited by a person: job_title',
      unknown: ['job_title'],
    })
  })
})
