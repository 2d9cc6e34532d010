import { describe, expect, test } from 'vitest'
import { jobChangeOf } from './job-change.ts'

describe('a job change', () => {
  test.each([
    [
      { company_name: 'Acme Inc.', job_title: 'CTO' },
      { company_name: 'Borealis AB', job_title: 'CTO' },
      { employer: { from: 'Acme Inc.', to: 'Borealis AB' } },
    ],
    [
      { company_name: 'Acme', job_title: 'CTO' },
      { company_name: 'Acme', job_title: 'CEO' },
      { title: { from: 'CTO', to: 'CEO' } },
    ],
    [
      { company_name: 'Acme', job_title: 'Engineer' },
      { company_name: 'Borealis', job_title: 'Sr. Engineer' },
      { employer: { from: 'Acme', to: 'Borealis' }, title: { from: 'Engineer', to: 'Sr. Engineer' } },
    ],
    [{ company_name: '青空' }, { company_name: '青い空' }, { employer: { from: '青空', to: '青い空' } }],
  ])('%j to %j', (record, found, jobChange) => {
    expect(jobChangeOf(record, found)).toEqual({ jobChange })
  })

  test.each([
    [{ company_name: 'ACME, Inc.' }, { company_name: 'Acme' }],
    [{ company_name: '株式会社青空' }, { company_name: '青空' }],
    [{ job_title: 'VP of Sales' }, { job_title: 'Vice President, Sales' }],
    [{ job_title: 'C.T.O.' }, { job_title: 'Chief Technology Officer' }],
    [{ job_title: 'Sr Engineer' }, { job_title: 'SENIOR  ENGINEER' }],
    [{ job_title: 'Diréctor' }, { job_title: 'director' }],
    [{ company_name: 'Acme' }, {}],
    [{}, { company_name: 'Acme', job_title: 'CTO' }],
    [
      { company_name: ' ', job_title: '-' },
      { company_name: 'Acme', job_title: 'CTO' },
    ],
  ])('is not %j to %j', (record, found) => {
    expect(jobChangeOf(record, found)).toBeUndefined()
  })
})
