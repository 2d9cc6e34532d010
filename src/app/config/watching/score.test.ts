import { expect, test } from 'vitest'
import { z } from 'zod'
import { describeIssues } from '../describe-issues.ts'
import { scoreSchema } from './score.ts'

const schema = z.strictObject({ score: scoreSchema })
const job = { type: 'job', points: 3 }

test('rules of a score are read', () => {
  expect(
    scoreSchema.parse({
      points: [
        { type: 'job', match: { functions: ['sales'] }, points: 20, halfLifeDays: 14 },
        { type: 'expansion', strength: 'strong', points: 12.5 },
        { type: 'expansion', match: { polarity: ['negative'] }, points: -10 },
        job,
      ],
    }),
  ).toEqual({
    halfLifeDays: 30,
    points: [
      { type: 'job', match: { functions: ['sales'] }, points: 20, halfLifeDays: 14 },
      { type: 'expansion', strength: ['strong'], points: 12.5 },
      { type: 'expansion', match: { polarity: ['negative'] }, points: -10 },
      job,
    ],
  })
})

test.each<[string, unknown, string]>([
  ['a weight that is a word', { points: [{ type: 'job', points: 'ten' }] }, 'score.points.0.points'],
  ['a weight that is no number', { points: [job, { type: 'news', points: NaN }] }, 'score.points.1.points'],
  ['a weight without end', { points: [{ type: 'job', points: Infinity }] }, 'score.points.0.points'],
  ['a weight beyond the most', { points: [{ type: 'job', points: 1_001 }] }, 'score.points.0.points'],
  ['a weight of three decimals', { points: [{ type: 'job', points: 0.125 }] }, 'score.points.0.points'],
  ['a weight of nothing', { points: [{ type: 'job', points: 0 }] }, 'score.points.0.points'],
  ['a rule without a weight', { points: [{ type: 'job' }] }, 'score.points.0.points'],
  ['no rules', { points: [] }, 'score.points'],
  ['an unknown type', { points: [{ type: 'jobs', points: 1 }] }, 'score.points.0.type'],
  ['an unknown word', { points: [{ ...job, match: { function: ['x'] } }] }, 'score.points.0.match'],
  [
    'words that are none',
    { points: [{ ...job, match: { functions: [] } }] },
    'score.points.0.match.functions',
  ],
  ['a match of nothing', { points: [{ ...job, match: {} }] }, 'score.points.0.match'],
  ['half-lives of no days', { halfLifeDays: 0, points: [job] }, 'score.halfLifeDays'],
  ['a rule that is never reached', { points: [job, { ...job, strength: 'strong' }] }, 'score.points.1'],
])('%s is refused with its place', (_, score, place) => {
  const result = schema.safeParse({ score })
  expect(result.success).toBe(false)
  expect(describeIssues(schema, result.error!.issues)).toContain(place)
})
