import { z } from 'zod'
import { defineFile } from '../definition.ts'
import { capabilities } from './capabilities.ts'
import { identityFields } from './columns.ts'

/** A CSV is not set up: `paydirt csv` opens the file that it is given. */
export const csv = defineFile({
  label: 'CSV',
  capabilities,
  entities: { company: 'company', person: 'person' },
  canonicalId: (line) => line,
  file: z.strictObject({
    /** Further names of columns, by the identifying field: `{ profileUrl: ['Network link'] }`. */
    synonyms: z.partialRecord(z.enum(identityFields), z.array(z.string())).optional(),
  }),
})
