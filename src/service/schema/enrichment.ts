import { z } from 'zod'
import { companySchema } from './company.ts'

const rows = z.array(z.looseObject({})).nullish()

/** The company record with lists beside its fields. The fields of their rows are not documented. */
export const enrichedCompanySchema = companySchema.extend({ jobs: rows, news: rows, advertisements: rows })

export type EnrichedCompany = z.infer<typeof enrichedCompanySchema>
