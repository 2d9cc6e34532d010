import { z } from 'zod'
import { companySchema } from './company.ts'

const rows = z.array(z.looseObject({})).nullish()

/** The company record with four lists beside its fields. Of their rows no field is documented. */
export const enrichedCompanySchema = companySchema.extend({ jobs: rows, news: rows, advertisements: rows })

export type EnrichedCompany = z.infer<typeof enrichedCompanySchema>
