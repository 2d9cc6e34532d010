import { z } from 'zod'
import { crmNames } from '../../connectors/definitions.ts'
import { boughtFieldNames } from '../../domain/fields.ts'
import { described, ofType, setting } from '../../domain/setting.ts'
import { excludeSchema } from './list-exclusions.ts'
import { usd } from '../../domain/usd-schema.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { faultsOfSources, likeSchema, peopleSchema } from './list-sources.ts'

const listOperations = [
  'company.search',
  'company.similar',
  'people.search',
  'people.similar',
  'expansion.search',
] as const

const ownerSchema = z.union([
  z.string().min(1),
  z.strictObject({ fromCompany: z.literal(true) }),
  z.strictObject({ roundRobin: z.array(z.string().min(1)).min(1) }),
])

const listSchema = z
  .strictObject({
    search: described(z.enum(listOperations), {
      means: 'the search whose rows are the [list](lists.md)',
      example: 'company.search',
    }),
    filters: described(ofType('filters of the search', z.record(z.string(), z.unknown())), {
      means: 'what is searched for; `paydirt service show company.search` lists the filters',
      example: { countries: ['DE'], industries: ['Financial Services'] },
    }),
    partitions: setting(
      ofType('list of filters', z.array(z.record(z.string(), z.unknown())).min(1).max(200)),
      {
        means:
          'filters that divide the list, each set beside `filters` or in place of the same one there: each is a search of its own, with its own pages and total, and their rows together are the list; a row of several counts once',
        defaultText: 'one search',
        example: [{ sizes: ['1-10'] }, { sizes: ['11-50'] }],
      },
    ),
    like: setting(
      ofType(
        '`{ connector, filter, top, by }`, `{ csv }`, or `{ profiles, domains, ids }`; `pages`, `minScore`',
        likeSchema,
      ),
      {
        means:
          'the [references](lists.md#lookalikes) of a similar search: records of a CRM, rows of a file, or given ones; each is one question',
        defaultText: 'the reference in `filters`',
        example: { connector: 'hubspot', filter: 'lifecyclestage=customer', top: 50, by: 'annualrevenue' },
      },
    ),
    people: setting(ofType('`{ perCompany, levels?, departments?, titles?, companies? }`', peopleSchema), {
      means:
        'the rows are [people at the companies](lists.md#people-at-companies) of the search: at most so many at each, by one question a company',
      defaultText: 'the rows are those of the search',
      example: { perCompany: 3, levels: ['C-Level'], departments: ['Finance'] },
    }),
    into: described(
      ofType(
        '`{ connector, entity, update?, set?, owner?, associate? }`',
        z.strictObject({
          connector: z.enum(crmNames),
          entity: z.string().min(1),
          update: z.boolean().optional(),
          set: z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()])).optional(),
          owner: ownerSchema.optional(),
          associate: z.union([z.boolean(), z.literal('existing')]).optional(),
        }),
      ),
      {
        means:
          'the CRM, and its name of the object, whose records the rows are compared with and in which new ones are made; `update: true` also enriches records that exist by the `recipe`, under their field policy; `set` are constants of each new record by the CRM’s own property names; `owner` is the id of its owner in the CRM, `{ fromCompany: true }` or `{ roundRobin: [ID, …] }`; `associate` ties [new people](lists.md#people) to their company: `true` makes it first where it is missing, `existing` does not, `false` ties them to none',
        example: { connector: 'hubspot', entity: 'companies' },
      },
    ),
    recipe: setting(z.string().min(1), {
      means:
        'the [recipe](recipes.md) whose fields are bought for a new row before it becomes a record; a field of `requires` that the recipe wants is asked for after that',
      defaultText: 'nothing is bought for rows',
      example: 'contact',
    }),
    exclude: setting(
      ofType('`{ domains?, profiles?, filters?: [{ connector?, entity?, filter }] }`', excludeSchema),
      {
        means:
          'companies or people that are left out of the list, in any spelling; `filters` are conditions on the records of a CRM, such as [customers and open deals](lists.md#customers-and-open-deals), by default of the object in `into`',
        defaultText: 'none',
        example: { domains: ['competitor.example'], filters: [{ filter: 'lifecyclestage=customer' }] },
      },
    ),
    requires: setting(z.array(z.string().min(1)), {
      means: '[fields](#fields) without which a row is of no use',
      defaultText: 'none',
      example: ['domain'],
    }),
    limit: setting(z.int().min(1), {
      means: 'at most so many rows',
      defaultText: 'all',
      example: 500,
    }),
    budgetUsd: setting(usd, {
      means: 'the most that one `lists fetch` spends on pages',
      defaultText: '`--budget` must be given',
      example: '2.50',
    }),
    budgetMonthUsd: setting(usd, {
      means:
        'the most that is spent for the list in a calendar month (UTC), by all commands and processes together',
      defaultText: 'no cap',
      example: '20',
    }),
  })
  .superRefine((list, context) => {
    const { partitions = [], requires = [], recipe, into } = list
    for (const fault of faultsOfSources(list)) context.addIssue({ code: 'custom', ...fault })
    if (into.update && recipe === undefined)
      context.addIssue({
        code: 'custom',
        path: ['into', 'update'],
        message: 'needs a recipe of the list, which says what is bought and written',
      })
    for (const [at, filters] of partitions.entries()) {
      const path = ['partitions', at]
      if (Object.keys(filters).length === 0)
        context.addIssue({ code: 'custom', path, message: 'has no filter, so it divides nothing' })
      for (const key of ['page', 'per_page'])
        if (Object.hasOwn(filters, key))
          context.addIssue({ code: 'custom', path: [...path, key], message: 'is no filter' })
    }
    const known = boughtFieldNames(objectOfList(list))
    for (const field of requires)
      if (!known.includes(field))
        context.addIssue({ code: 'custom', path: ['requires'], message: `there is no field ${field}` })
  })

/** Returns the kind of object that the rows of a list are. */
export function objectOfList({ search, people }: { search: string; people?: unknown }): ObjectKind {
  return people !== undefined || search.startsWith('people.') ? 'person' : 'company'
}

/** `{ fintechs: { search: 'company.search', filters: { countries: ['DE'] }, into: { connector: 'hubspot', entity: 'companies' } } }` */
export const listsSchema = z.record(
  z.string().regex(/^[A-Za-z][\w-]{0,39}$/, 'is not a name of letters, digits, _ and -'),
  listSchema,
)

export type ListSettings = z.output<typeof listSchema>
export type ListsConfig = Readonly<Record<string, ListSettings>>
