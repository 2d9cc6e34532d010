import { z } from 'zod'
import { crmNames } from '../../connectors/definitions.ts'
import { parseFilter } from '../../connectors/parse-filter.ts'

const condition = z.string().refine((text) => parseFilter(text) !== undefined, {
  message: 'must be PROPERTY=VALUE, PROPERTY!=VALUE, PROPERTY= (blank) or PROPERTY!= (filled)',
})

/** `{ filters: [{ filter: 'lifecyclestage=customer' }], domains: ['competitor.example'] }` */
export const excludeSchema = z.strictObject({
  domains: z.array(z.string().min(1)).optional(),
  profiles: z.array(z.string().min(1)).optional(),
  filters: z
    .array(
      z.strictObject({
        connector: z.enum(crmNames).optional(),
        entity: z.string().min(1).optional(),
        filter: z.union([condition, z.array(condition).min(1)]),
      }),
    )
    .min(1)
    .optional(),
})

export type ExcludeFilter = NonNullable<z.output<typeof excludeSchema>['filters']>[number]
