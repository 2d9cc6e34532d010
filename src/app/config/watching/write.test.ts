import { expect, test } from 'vitest'
import { z } from 'zod'
import { describeIssues } from '../describe-issues.ts'
import { writeSchema } from './write.ts'

const schema = z.strictObject({ write: writeSchema })

test.each([true, false, ['signal_score', 'open_jobs']])('%j is what a pipeline writes', (write) => {
  expect(schema.parse({ write })).toEqual({ write })
})

test.each<[unknown, string]>([
  [['signal_scor'], 'signal_score'],
  [['industry'], 'write'],
  [[], 'write'],
  ['all', 'write'],
])('%j is refused with its place', (write, message) => {
  const result = schema.safeParse({ write })
  expect(result.success).toBe(false)
  expect(describeIssues(schema, result.error!.issues)).toContain(message)
})
