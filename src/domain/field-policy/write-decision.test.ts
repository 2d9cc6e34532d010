import { describe, expect, test } from 'vitest'
import type { FieldRule } from './field-policy.ts'
import type { FieldValue, Patch } from '../record.ts'
import { clearedValue } from './blocked-values.ts'
import { decideWrite, type OpenIntent } from './write-decision.ts'

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

function decided(
  values: Record<string, FieldValue>,
  patch: Patch,
  by: { ours?: Record<string, FieldValue>; open?: OpenIntent[]; rule?: FieldRule } = {},
) {
  const { ours = {}, open = [], rule = 'fill_blank' } = by
  return decideWrite(task(patch), present(values), { ours, open, rule: () => rule })
}

const pilot: Patch = { job_title: { set: 'Pilot' } }

describe('a first attempt', () => {
  test('writes what the rules allow, and tells blanks from replaced values', () => {
    expect(
      decided({ city: 'Bern' }, { ...pilot, city: { set: 'Basel' } }, { rule: 'overwrite' }),
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
  ])(
    'writes nothing where every field is kept (%s), and the reason says why',
    (_, values, rule, ours, reason) => {
      expect(decided(values, pilot, { rule, ours })).toEqual({
        kind: 'end',
        status: 'unchanged',
        reason,
        unknown: [],
      })
    },
  )

  test('lists the fields that are kept by their reasons, and what the CRM said', () => {
    const value = { value: 'x', policy: 'fill_blank' as const, rule: 'overwrite' as const, mapping: null }
    const blocked = new Map([
      ['job_title', { ...value, field: 'job_title', why: 'undone' as const, code: null }],
      ['city', { ...value, field: 'city', why: 'rejected' as const, code: 'TOO_LONG' }],
    ])
    const patch: Patch = { ...pilot, city: { set: 'Basel' }, about: { set: 'Text' } }
    const by = { ours: {}, open: [], rule: () => 'overwrite' as const, blocked: blocked as never }
    expect(decideWrite(task(patch), present({ about: 'Text' }), by)).toMatchObject({
      kind: 'end',
      reason: 'undone before: job_title; refused by the CRM before: city (TOO_LONG); the same already: about',
    })
  })

  test.each([
    [{ state: 'gone' as const }, 'the record is gone'],
    [{ state: 'merged' as const, into: '9' }, 'the record was merged into 9'],
    [{ state: 'converted' as const }, 'the lead was converted'],
  ])('writes nothing to a record that is %o', (record, reason) => {
    const by = { ours: {}, open: [intent('city', null, 'Bern')], rule: () => 'overwrite' as const }
    expect(decideWrite(task(pilot), record, by)).toEqual({
      kind: 'end',
      status: 'skipped',
      reason,
      unknown: ['city'],
    })
  })
})

describe('after an interrupted attempt', () => {
  const open = [intent('job_title', null, 'Pilot')]

  test('a field with the new value counts as written, and is not written again', () => {
    expect(decided({ job_title: 'Pilot' }, pilot, { open })).toMatchObject({
      kind: 'written',
      done: pilot,
      replaces: new Set(),
      unknown: [],
    })
  })

  test('a field with the old value is written, and the other fields with it', () => {
    expect(decided({}, { ...pilot, city: { set: 'Bern' } }, { open })).toMatchObject({
      kind: 'write',
      patch: { job_title: { set: 'Pilot' }, city: { set: 'Bern' } },
      done: {},
    })
  })

  test('some of the fields may have been written', () => {
    const both = { ...pilot, city: { set: 'Bern' } }
    expect(
      decided({ job_title: 'Pilot' }, both, { open: [...open, intent('city', null, 'Bern')] }),
    ).toMatchObject({
      kind: 'write',
      patch: { city: { set: 'Bern' } },
      done: pilot,
    })
  })

  test('a field that the first attempt overwrote still counts as replaced', () => {
    const replaced = [intent('job_title', 'Cook', 'Pilot')]
    expect(decided({ job_title: 'Pilot' }, pilot, { open: replaced, rule: 'overwrite' })).toMatchObject({
      kind: 'written',
      replaces: new Set(['job_title']),
    })
  })

  test('a third value is a person\u2019s, and is kept under every rule', () => {
    expect(decided({ job_title: 'Baker' }, pilot, { open, rule: 'overwrite' })).toEqual({
      kind: 'end',
      status: 'unchanged',
      reason: 'edited by a person: job_title',
      unknown: ['job_title'],
    })
  })
})

describe('a record that names another subject now', () => {
  const by = { ours: {}, rule: () => 'overwrite' as const, isAnother: true }

  test('gets nothing', () => {
    expect(decideWrite(task(pilot), present({}), { ...by, open: [] })).toEqual({
      kind: 'end',
      status: 'skipped',
      reason: 'the record names another subject now',
      unknown: [],
    })
  })

  test('has what an interrupted attempt wrote, and gets nothing more', () => {
    const patch: Patch = { ...pilot, city: { set: 'Basel' } }
    const open = [intent('job_title', null, 'Pilot'), intent('city', null, 'Basel')]
    const record = present({ job_title: 'Pilot' })
    expect(decideWrite(task(patch), record, { ...by, open })).toMatchObject({
      kind: 'written',
      patch: {},
      done: pilot,
    })
  })
})

describe('a field that an interrupted attempt was about to clear', () => {
  const clear: Patch = { cloud_providers: { clear: true } }
  const by = {
    ours: { cloud_providers: 'AWS' },
    open: [intent('cloud_providers', 'AWS', clearedValue)],
    rule: () => 'overwrite_ours' as const,
  }
  test.each([
    ['is cleared once more where the attempt did not come to it', { cloud_providers: 'AWS' }, 'write'],
    ['counts as cleared where it is', {}, 'written'],
    ['is left alone where a person has filled it since', { cloud_providers: 'On premises' }, 'end'],
  ])('%s', (_, values: Record<string, FieldValue>, kind) => {
    expect(decideWrite(task(clear), present(values), by)).toMatchObject({ kind })
  })

  test('a value of a person over one that we cleared is kept, and a blank is filled again', () => {
    const ours = { cloud_providers: clearedValue }
    const set: Patch = { cloud_providers: { set: 'Azure' } }
    const rule = () => 'overwrite_ours' as const
    expect(decideWrite(task(set), present({}), { ours, open: [], rule })).toMatchObject({ kind: 'write' })
    expect(
      decideWrite(task(set), present({ cloud_providers: 'On premises' }), { ours, open: [], rule }),
    ).toMatchObject({ kind: 'end', reason: 'every field found is filled already' })
  })
})
