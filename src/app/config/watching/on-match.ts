import { z } from 'zod'
import { crmNames } from '../../../connectors/definitions.ts'
import { described, ofType, setting } from '../../../domain/setting.ts'
import { usd } from '../../../domain/usd-schema.ts'
import { excludeSchema } from '../list-exclusions.ts'
import { peopleSchema } from '../list-sources.ts'

const dayMs = 86_400_000
const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: dayMs }
const mostDays = 400

/** A length of time as people write it, `12h` or `7d`; the output is in milliseconds. */
const duration = ofType(
  'hours or days, such as `12h` or `7d`',
  z.string().transform((text, context) => {
    const [, count, unit = ''] = /^(\d{1,4})\s?(h|d)$/.exec(text.trim()) ?? []
    const ms = Number(count) * (unitMs[unit] ?? 0)
    if (ms > 0 && ms <= mostDays * dayMs) return ms
    context.addIssue({ code: 'custom', message: `is no time such as 12h or 7d, of at most ${mostDays} days` })
    return z.NEVER
  }),
)

const contactData = ['email', 'phone'] as const

const ofPeople = peopleSchema
  .omit({ companies: true })
  .extend({
    recipe: z.string().min(1).optional(),
    contact: z.array(z.enum(contactData)).min(1).optional(),
    entity: z.string().min(1).optional(),
    owner: z
      .union([
        z.string().min(1),
        z.strictObject({ fromCompany: z.literal(true) }),
        z.strictObject({ roundRobin: z.array(z.string().min(1)).min(1) }),
      ])
      .optional(),
  })
  .superRefine(({ recipe, contact }, context) => {
    if (recipe !== undefined && contact !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['contact'],
        message: 'is decided by the recipe: name one of both',
      })
  })

const note = z.union([z.boolean(), z.strictObject({ title: z.string().trim().min(1).max(200).optional() })])

const task = z.strictObject({
  title: z.string().trim().min(1).max(200),
  dueDays: z.int().min(0).max(365).optional(),
})

/** The work that a declared monitor has done for each company that it names. */
export const onMatchSchema = z
  .strictObject({
    connector: described(z.enum(crmNames), {
      means: 'the CRM in which the company is looked for',
      example: 'hubspot',
    }),
    entity: setting(z.string().min(1), {
      means: 'the CRM’s name of the object of the company',
      defaultText: '`companies` of HubSpot, `Account` of Salesforce',
      example: 'companies',
    }),
    recipe: setting(z.string().min(1), {
      means: 'the [recipe](recipes.md) by which the company is enriched',
      defaultText: 'nothing is bought for the company',
      example: 'profile',
    }),
    create: setting(z.boolean(), {
      means: 'make a company that is not in the CRM, under [all rules of lists](lists.md#verdicts)',
      default: false,
      example: true,
    }),
    set: setting(z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()])), {
      type: 'value by property of the CRM',
      means: 'constants of each company that is made',
      defaultText: 'none',
      example: { lifecyclestage: 'lead' },
    }),
    exclude: setting(
      ofType('`{ domains?, profiles?, filters?: [{ connector?, entity?, filter }] }`', excludeSchema),
      {
        means: 'companies for which nothing is done',
        defaultText: 'none',
        example: { domains: ['competitor.example'] },
      },
    ),
    people: setting(
      ofType(
        '`{ perCompany, levels?, departments?, titles?, recipe? | contact?, entity?, owner? }`',
        ofPeople,
      ),
      {
        means:
          'people of the company of whom records are made, as for [lists](lists.md#people-at-companies); `contact` is what is bought to reach them: `email`, `phone` or both',
        defaultText: 'none',
        example: { perCompany: 2, levels: ['C-Level'], contact: ['email'] },
      },
    ),
    owner: setting(z.string().min(1), {
      means: 'the id of the owner, in the CRM, of a company that is made; one that exists keeps its own',
      defaultText: 'the CRM decides',
      example: '71001',
    }),
    note: setting(ofType('boolean, or `{ title }`', note), {
      means: 'write one note to the company, with the signals and the people of the match',
      default: false,
      example: true,
    }),
    task: setting(ofType('`{ title, dueDays? }`', task), {
      means: 'one task for the owner of the company, due after so many days',
      defaultText: 'none',
      example: { title: 'Call them', dueDays: 2 },
    }),
    oncePer: described(duration.default(7 * dayMs), {
      means: 'a company is worked once in this time, however often it matches',
      default: '7d',
      example: '30d',
    }),
    budgetDayUsd: setting(usd, {
      means: 'the most that is spent on matches of the monitor in a calendar day (UTC)',
      defaultText: 'no cap',
      example: '2.50',
    }),
    budgetMonthUsd: setting(usd, {
      means: 'the same in a calendar month (UTC)',
      defaultText: 'no cap',
      example: '25',
    }),
  })
  .superRefine(({ budgetDayUsd: day, budgetMonthUsd: month }, context) => {
    if (day !== undefined && month !== undefined && day > month)
      context.addIssue({
        code: 'custom',
        path: ['budgetDayUsd'],
        message: 'is above budgetMonthUsd, which ends it on its first day',
      })
  })

export type OnMatch = z.output<typeof onMatchSchema>

/**
 * The service's own enrichment of people at matched companies. The names of its keys are not shown by the service: they are sent as they
 * stand in the settings.
 */
export const automaticPersonEnrichmentSchema = z.record(z.string().min(1), z.unknown())

/** Returns the warning of a plan about the service's own enrichment of people; undefined where the monitor does not declare it. */
export function automaticEnrichmentWarning({
  automaticPersonEnrichment,
}: {
  automaticPersonEnrichment?: z.output<typeof automaticPersonEnrichmentSchema> | undefined
}): string | undefined {
  return automaticPersonEnrichment === undefined
    ? undefined
    : 'the service finds and redeems people at matched companies by itself (automaticPersonEnrichment): it spends credits that no budget here limits and that the ledger does not see; `paydirt reconcile` shows them as usage that no charge explains'
}
