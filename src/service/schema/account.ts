import { z } from 'zod'

const integer = z.number().nullish()

/**
 * The Profile record of the workspace. `total_max_*` fields, with the licence multiplier applied, are kept as they
 * come.
 */
export const accountSchema = z.looseObject({
  credit: integer,
  topup_credit: integer,
  max_search_per_page: integer,
  max_search_page: integer,
})

/** The Profile Usage record. Its usage and quota fields are not documented, so they are kept as they come. */
export const accountUsageSchema = z.looseObject({ credit: integer, topup_credit: integer })
