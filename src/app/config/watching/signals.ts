import { z } from 'zod'
import { crmNames } from '../../../connectors/definitions.ts'
import { parseFilter } from '../../../connectors/parse-filter.ts'
import { described, ofType, setting } from '../../../domain/setting.ts'
import { defaultDays } from '../../../domain/signals/due.ts'
import { signalTypes, type SignalType } from '../../../domain/signals/signal.ts'
import { usd } from '../../../domain/usd-schema.ts'
import { scoreSchema } from './score.ts'
import { writeSchema } from './write.ts'

const condition = z.string().refine((text) => parseFilter(text) !== undefined, {
  message: 'must be PROPERTY=VALUE, PROPERTY!=VALUE, PROPERTY= (blank) or PROPERTY!= (filled)',
})

const ofCrm = z.strictObject({
  connector: z.enum(crmNames),
  entity: z.string().min(1).optional(),
  filter: z.union([condition, z.array(condition).min(1)]).optional(),
  limit: z.int().min(1).optional(),
})
const ofList = z.strictObject({ list: z.string().min(1), limit: z.int().min(1).optional() })

const days = z.number().min(1).max(365)
const daysOfTypes = Object.fromEntries(signalTypes.map((type) => [type, days.optional()])) as Record<
  SignalType,
  z.ZodOptional<typeof days>
>

const note = z.union([
  z.boolean(),
  z.strictObject({
    title: z.string().trim().min(1).max(200).optional(),
    everyDays: z.int().min(1).max(90).optional(),
  }),
])
const task = z.strictObject({
  title: z.string().trim().min(1).max(200),
  when: z
    .strictObject({ scoreAtLeast: z.number().optional(), changeAtLeast: z.number().optional() })
    .refine((given) => Object.keys(given).length > 0, 'names no rule: scoreAtLeast or changeAtLeast'),
  dueDays: z.int().min(0).max(365).optional(),
})

const pipeline = z
  .strictObject({
    accounts: described(
      ofType('`{ connector, entity?, filter?, limit? }` or `{ list, limit? }`', z.union([ofCrm, ofList])),
      {
        means:
          'the companies that are watched: records of a CRM that meet the conditions, or the rows of a [list](lists.md)',
        example: { connector: 'hubspot', filter: 'lifecyclestage=opportunity' },
      },
    ),
    types: setting(z.array(z.enum(signalTypes)).min(1), {
      means: 'what is asked for of each account',
      default: [...signalTypes],
      example: ['job', 'expansion'],
    }),
    days: setting(ofType('days by type', z.strictObject(daysOfTypes)), {
      means: 'the days after which a type is asked for again',
      defaultText: Object.entries(defaultDays)
        .map(([type, each]) => `${type} ${each}`)
        .join(', '),
      example: { job: 14 },
    }),
    score: setting(scoreSchema, {
      means: 'the points of each signal, halved every so many days; the first rule that fits one counts',
      defaultText: 'points by type alone ([signals](signals.md))',
      example: { halfLifeDays: 30, points: [{ type: 'job', match: { functions: ['sales'] }, points: 20 }] },
    }),
    write: setting(writeSchema, {
      means:
        'write what was observed into the records: all of its [fields](signals.md#fields-in-the-crm), none, or these',
      default: true,
      example: ['signal_score', 'signal_reason'],
    }),
    note: setting(ofType('boolean, or `{ title, everyDays }`', note), {
      means:
        'one note an account and period (`everyDays`, 7 by default), with its new signals and their links',
      default: false,
      example: true,
    }),
    task: setting(ofType('`{ title, when: { scoreAtLeast?, changeAtLeast? }, dueDays? }`', task), {
      means: 'one task for the owner of the account, when its score or the change of a week reaches so much',
      defaultText: 'none',
      example: { title: 'Call them', when: { changeAtLeast: 20 }, dueDays: 2 },
    }),
    budgetUsd: setting(usd, {
      means: 'the most that one `signals run` spends',
      defaultText: '`--budget` must be given',
      example: '5',
    }),
    budgetMonthUsd: setting(usd, {
      means:
        'the most that is spent for the pipeline in a calendar month (UTC), by all commands and processes',
      defaultText: 'no cap',
      example: '50',
    }),
  })
  .superRefine(({ accounts, note, task, write }, context) => {
    if (!('list' in accounts)) return
    for (const [name, given] of Object.entries({ note, task, write }))
      if (given !== undefined && given !== false)
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'needs accounts of a CRM: rows of a list have no record',
        })
  })

export const signalsSchema = z.record(
  z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be a name of small letters, digits and hyphens'),
  pipeline,
)

export type SignalsConfig = z.output<typeof signalsSchema>
export type PipelineSettings = SignalsConfig[string]
