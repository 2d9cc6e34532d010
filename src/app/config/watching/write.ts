import { z } from 'zod'
import { signalFieldNames } from '../../../domain/fields.ts'
import { ofType } from '../../../domain/setting.ts'
import { meantBy } from '../describe-issues.ts'

const fields = z
  .array(z.string().min(1))
  .min(1)
  .superRefine((given, context) => {
    for (const [at, field] of given.entries())
      if (!(signalFieldNames as readonly string[]).includes(field))
        context.addIssue({
          code: 'custom',
          path: [at],
          message: `is not a field of signals; ${meantBy(field, [...signalFieldNames])}`,
        })
  })

/** The fields that a pipeline writes into its records: `true` for all of them, `false` for none, or a list. */
export const writeSchema = ofType('boolean, or list of fields', z.union([z.boolean(), fields]))
