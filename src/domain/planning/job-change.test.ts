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
    ['CEO', 'Chief Executive Officer'],
    ['CTO', 'Chief Technology Officer'],
    ['CFO', 'Chief Financial Officer'],
    ['COO', 'Chief Operating Officer'],
    ['CMO', 'Chief Marketing Officer'],
    ['CIO', 'Chief Information Officer'],
    ['CISO', 'Chief Information Security Officer'],
    ['CRO', 'Chief Revenue Officer'],
    ['CPO', 'Chief Product Officer'],
    ['EVP', 'Executive Vice President'],
    ['SVP', 'Senior Vice President'],
    ['AVP', 'Assistant Vice President'],
    ['V.P.', 'Vice President'],
    ['MD', 'Managing Director'],
    ['Sr', 'Senior'],
    ['Jr.', 'Junior'],
    ['Mgr', 'Manager'],
    ['Eng', 'Engineer'],
    ['Dir', 'Director'],
    ['Asst', 'Assistant'],
    ['HR', 'Human Resources'],
    ['IT', 'Information Technology'],
    ['Head of the Team and at Work for All', 'Head, Team Work All'],
  ])('is not %s to %s', (short, long) => {
    expect(jobChangeOf({ job_title: `${short} East` }, { job_title: `${long} East` })).toBeUndefined()
    expect(jobChangeOf({ job_title: `${long} East` }, { job_title: `${short} East` })).toBeUndefined()
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
