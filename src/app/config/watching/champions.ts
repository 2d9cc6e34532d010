import { z } from 'zod'
import { crmNames } from '../../../connectors/definitions.ts'
import { parseFilter } from '../../../connectors/parse-filter.ts'
import { described, ofType, setting } from '../../../domain/setting.ts'
import { usd } from '../../../domain/usd-schema.ts'

const condition = z.string().refine((text) => parseFilter(text) !== undefined, {
  message: 'must be PROPERTY=VALUE, PROPERTY!=VALUE, PROPERTY= (blank) or PROPERTY!= (filled)',
})

const note = z.union([z.boolean(), z.strictObject({ title: z.string().trim().min(1).max(200).optional() })])

const task = z.strictObject({
  title: z.string().trim().min(1).max(200),
  dueDays: z.int().min(0).max(365).optional(),
})

const contactData = ['email', 'phone'] as const

const onJoin = z
  .strictObject({
    associate: z.union([z.boolean(), z.literal('existing')]).default(true),
    recipe: z.string().min(1).optional(),
    contact: z.array(z.enum(contactData)).min(1).optional(),
    set: z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()])).optional(),
    owner: z
      .union([
        z.string().min(1),
        z.strictObject({ fromCompany: z.literal(true) }),
        z.strictObject({ roundRobin: z.array(z.string().min(1)).min(1) }),
      ])
      .optional(),
    note: note.optional(),
    task: task.optional(),
  })
  .superRefine(({ recipe, contact }, context) => {
    if (recipe !== undefined && contact !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['contact'],
        message: 'is decided by the recipe: name one of both',
      })
  })

const onLeave = z.strictObject({ note: note.optional(), task: task.optional() })

const champions = z.strictObject({
  connector: described(z.enum(crmNames), {
    means: 'the CRM that holds the people',
    example: 'hubspot',
  }),
  entity: setting(z.string().min(1), {
    means: 'the CRM’s name of their object',
    defaultText: '`contacts` of HubSpot, `Contact` of Salesforce',
    example: 'contacts',
  }),
  filter: setting(
    ofType('condition, or list of conditions', z.union([condition, z.array(condition).min(1)])),
    {
      means: 'the people who are checked: those who meet all conditions',
      defaultText: 'all with a profile URL',
      example: 'lifecyclestage=customer',
    },
  ),
  limit: setting(z.int().min(1), {
    means: 'at most so many people',
    defaultText: 'no limit',
    example: 500,
  }),
  days: described(z.number().min(1).max(365).default(30), {
    means: 'the days after which a person is looked up again; an older answer is bought anew',
    default: 30,
    example: 60,
  }),
  onLeave: setting(ofType('`{ note?, task? }`', onLeave), {
    means:
      'one note, and one task for the owner, on the record of a person who has left, beside `left_company_at`',
    defaultText: 'neither',
    example: { task: { title: 'Your champion has left', dueDays: 2 } },
  }),
  onJoin: setting(ofType('`{ associate?, recipe? | contact?, set?, owner?, note?, task? }`', onJoin), {
    means:
      'a record of the person at the new employer, under [all rules of lists](lists.md#verdicts), tied to the company there, which is made where it is missing; `associate` and `owner` as for lists, `contact` is what is bought to reach the person: `email`, `phone` or both',
    defaultText: 'no record is made',
    example: { contact: ['email'], task: { title: 'Say hello', dueDays: 2 } },
  }),
  relationship: setting(z.string().trim().min(1).max(200), {
    means: 'the words that stand as `champion_relationship` in the record at the new employer',
    defaultText: 'none',
    example: 'Former customer',
  }),
  budgetUsd: setting(usd, {
    means: 'the most that one `champions run` spends',
    defaultText: '`--budget` must be given',
    example: '5',
  }),
  budgetMonthUsd: setting(usd, {
    means: 'the most that is spent for them in a calendar month (UTC), by all commands and processes',
    defaultText: 'no cap',
    example: '20',
  }),
})

/** `{ customers: { connector: 'hubspot', filter: 'lifecyclestage=customer', days: 30 } }` */
export const championsSchema = z.record(
  z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be a name of small letters, digits and hyphens'),
  champions,
)

export type ChampionsConfig = z.output<typeof championsSchema>
export type ChampionSettings = ChampionsConfig[string]
