import { z } from 'zod'
import { matchWords, type MatchWord } from '../../../domain/signals/score.ts'
import { signalTypes } from '../../../domain/signals/signal.ts'
import { ofType } from '../../../domain/setting.ts'

const mostPoints = 1_000

/** At most two decimals: a score is counted in hundredths. */
const points = z
  .number()
  .min(-mostPoints)
  .max(mostPoints)
  .refine((value) => Math.abs(value * 100 - Math.round(value * 100)) < 1e-6, 'has more than two decimals')
  .refine((value) => value !== 0, 'gives nothing: leave the rule out, or give points')

const days = z.number().gt(0).max(3_650)
const words = z.array(z.string().trim().min(1).max(200)).min(1)
const matchNames = Object.keys(matchWords) as MatchWord[]
const match = z
  .strictObject(
    Object.fromEntries(matchNames.map((name) => [name, words.optional()])) as Record<
      MatchWord,
      z.ZodOptional<typeof words>
    >,
  )
  .refine((given) => Object.keys(given).length > 0, 'names no word: leave it out to fit any')

const rule = z.strictObject({
  type: z.enum(signalTypes),
  strength: z
    .union([
      z
        .string()
        .trim()
        .min(1)
        .transform((one) => [one]),
      words,
    ])
    .optional(),
  match: match.optional(),
  points,
  halfLifeDays: days.optional(),
})

/** The points of a pipeline: `{ halfLifeDays: 30, points: [{ type: 'job', match: { functions: ['sales'] }, points: 20 }] }`. */
export const scoreSchema = ofType(
  '`{ halfLifeDays?, points: [{ type, strength?, match?, points, halfLifeDays? }] }`',
  z
    .strictObject({ halfLifeDays: days.default(30), points: z.array(rule).min(1).max(200) })
    .superRefine(({ points: rules }, context) => {
      for (const [at, { type }] of rules.entries()) {
        const before = rules.slice(0, at).findIndex((each) => each.type === type && fitsAll(each))
        if (before >= 0)
          context.addIssue({
            code: 'custom',
            path: ['points', at],
            message: `is never reached: points.${before} before it fits every ${type}; put this one first`,
          })
      }
    }),
)

function fitsAll({ strength, match }: z.output<typeof rule>): boolean {
  return strength === undefined && match === undefined
}
