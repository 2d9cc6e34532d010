import { z } from 'zod'
import { setting } from '../../domain/setting.ts'
import { defineFile } from '../definition.ts'
import { capabilities } from './capabilities.ts'
import { identityFields } from './column-names.ts'

/** A CSV is not set up: `paydirt csv` opens the file that it is given. */
export const csv = defineFile({
  label: 'CSV',
  capabilities,
  entities: { company: 'company', person: 'person' },
  canonicalId: (line) => line,
  file: z.strictObject({
    synonyms: setting(z.partialRecord(z.enum(identityFields), z.array(z.string())), {
      type: 'list of names by [identity](#identity)',
      means: 'further names of [input columns](csv.md), by what they hold',
      example: { profileUrl: ['Network link'] },
    }),
  }),
})
