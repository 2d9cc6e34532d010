import { z } from 'zod'
import { httpMethods } from '../../domain/ports/transport.ts'
import { ofType, setting } from '../../domain/setting.ts'
import { usd } from '../../domain/usd-schema.ts'
import { slotsOf } from '../../domain/operations.ts'
import type { PriceTable } from '../../domain/planning/step.ts'
import { operations, type Operation } from '../../domain/words.ts'
import { fieldSettings, publishedCatalogue, type Contract } from '../../service/catalogue/catalogue.ts'
import { accesses } from '../../service/catalogue/entry.ts'
import { meantBy } from './describe-issues.ts'

const names = (what: string) => ofType(what, z.record(z.string().min(1), z.string().min(1)))

/** The setting of one operation. Keys and fields are checked against the catalogue, which has other ones for each. */
const operationSchema = z.strictObject({
  method: setting(z.enum(httpMethods), {
    means: 'its method, where the service has another one',
    defaultText: 'that of the catalogue',
    example: 'GET',
  }),
  path: setting(z.string().startsWith('/', 'begins with a slash, as in "/jobs/search"'), {
    means:
      'its path below the base address, with `{name}` for parameters; the paths of batches are in `service.paths`',
    defaultText: 'that of the catalogue',
    example: '/job-postings/search',
  }),
  access: setting(z.enum(accesses), {
    means: 'how it can be reached: by payment, by API key (`direct`), or by `both`',
    defaultText: 'that of the catalogue',
    example: 'direct',
  }),
  fields: setting(names('path by name'), {
    means:
      'places in its answer: `rows`, `id` and `total` of a search, `at` of a record or document; `$` is the answer itself, where it is a bare list',
    defaultText: 'those of the catalogue',
    example: { rows: 'data.jobs', total: 'data.pagination.total' },
  }),
  rename: setting(names('name by key'), {
    means: "the service's own names of keys of its request, and of a batch's entries",
    defaultText: 'each key has its own name',
    example: { domains: 'company_domains' },
  }),
  priceUsd: setting(usd, {
    means: 'price of one request, until a challenge or an answer tells it',
    defaultText: 'that of the catalogue',
    example: '0.02',
  }),
})

/** The `service.operations` of `paydirt.config.ts`. */
export const operationsSchema = z
  .partialRecord(z.enum(operations), operationSchema)
  .superRefine((settings, context) => {
    for (const [name, given] of Object.entries(settings)) {
      if (!given) continue
      const operation = name as Operation
      const contract = publishedCatalogue.of(operation)
      const refuse = (path: string[], message: string) =>
        context.addIssue({ code: 'custom', path: [operation, ...path], message })
      for (const key of Object.keys(given.rename ?? {}))
        if (!Object.hasOwn(contract.request, key))
          refuse(['rename', key], `is no key of its request; ${meantBy(key, Object.keys(contract.request))}`)
      for (const field of Object.keys(given.fields ?? {}))
        if (!fieldSettings(operation).includes(field))
          refuse(['fields', field], `is no place in its answer; ${meantBy(field, fieldSettings(operation))}`)
      const taken = ownerOfPath(operation, settings)
      if (taken !== undefined)
        refuse(['path'], `is the path of ${taken}, whose answers are others: name that operation instead`)
      for (const wrong of wrongParameters(contract, given.path))
        refuse(['path'], `names {${wrong}}, which is no key of its request`)
    }
  })

/** Returns the prices that the settings give to whole operations. Those of contact types stand in `payment.pricesUsd`. */
export function operationPrices(settings: z.output<typeof operationsSchema> = {}): PriceTable {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([operation, given]) =>
      given?.priceUsd === undefined
        ? []
        : slotsOf(operation as Operation).map((slot) => [slot, given.priceUsd]),
    ),
  )
}

/** Returns another operation that is published at this method and path, and stays there. */
function ownerOfPath(
  operation: Operation,
  settings: Readonly<Partial<Record<Operation, { path?: string | undefined; method?: string | undefined }>>>,
): Operation | undefined {
  const given = settings[operation]
  if (given?.path === undefined) return undefined
  const addressOf = (method: string, path: string) =>
    `${method} ${path.toLowerCase().replaceAll(/\{\w+\}/g, '{}')}`
  const own = addressOf(given.method ?? publishedCatalogue.of(operation).method.value, given.path)
  return publishedCatalogue
    .all()
    .find(
      (each) =>
        each.operation !== operation &&
        settings[each.operation]?.path === undefined &&
        addressOf(settings[each.operation]?.method ?? each.method.value, each.path.value) === own,
    )?.operation
}

function wrongParameters({ request }: Contract, path = ''): string[] {
  return [...path.matchAll(/\{([^}]*)\}/g)]
    .map(([, name = '']) => name)
    .filter((name) => !Object.hasOwn(request, name))
}
