import { expect, test } from 'vitest'
import type { CurrentRecord } from '../../domain/field-policy/current-record.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { FieldValue, Identity, Patch } from '../../domain/record.ts'
import type { ReadyTask } from '../../store/runs/ready-tasks.ts'
import { withJobChanges } from './job-changes.ts'

function noted(
  values: Record<string, FieldValue>,
  found: Record<string, FieldValue>,
  more: { identity?: Identity; state?: CurrentRecord; status?: 'written' | 'unchanged' | 'skipped' } = {},
) {
  const patch: Patch = Object.fromEntries(Object.entries(found).map(([field, set]) => [field, { set }]))
  const task: ReadyTask = {
    id: 1n,
    runId: 'r',
    recordId: '7',
    identity: more.identity ?? {},
    steps: ['person.profile|x' as LookupKey],
    patch,
    reason: null,
  }
  const record = more.state ?? { state: 'present', values }
  const result = {
    id: 1n,
    status: more.status ?? ('unchanged' as const),
    patch: null,
    reason: 'every field found is filled already',
    written: [],
    unknown: [],
  }
  return withJobChanges([result], [task], new Map([['7', record as CurrentRecord]]))[0]
}

test.each([
  ['another employer', { company_name: 'Acme Ltd' }, { company_name: 'Umbra GmbH' }, ['employer']],
  ['another title', { job_title: 'VP Sales' }, { job_title: 'Chief Revenue Officer' }, ['title']],
  [
    'both',
    { company_name: 'Acme', job_title: 'VP Sales' },
    { company_name: 'Umbra', job_title: 'CRO' },
    ['employer', 'title'],
  ],
  [
    'the same in another form',
    { company_name: 'ACME, Inc.', job_title: 'VP of Sales' },
    { company_name: 'Acme', job_title: 'Vice President, Sales' },
    undefined,
  ],
  ['a blank that is filled', { job_title: '' }, { job_title: 'CRO', company_name: 'Umbra' }, undefined],
  ['nothing found of the job', { company_name: 'Acme' }, { city: 'Oslo' }, undefined],
] as const)('%s', (_, values, found, jobChange) => {
  expect(noted(values, found)?.jobChange).toEqual(jobChange)
})

test('the employer in the identity of the record counts too', () => {
  expect(noted({}, { company_name: 'Umbra' }, { identity: { company: 'Acme' } })).toMatchObject({
    jobChange: ['employer'],
    reason: 'every field found is filled already; job change: employer',
  })
})

test('a record that is gone or suppressed has no job change', () => {
  const found = { company_name: 'Umbra' }
  expect(noted({}, found, { state: { state: 'gone' } })?.jobChange).toBeUndefined()
  expect(noted({ company_name: 'Acme' }, found, { status: 'skipped' })?.jobChange).toBeUndefined()
})
