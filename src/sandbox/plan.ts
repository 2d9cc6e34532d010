import { z } from 'zod'

const cap = (value: number) => z.int().min(1).default(value)

/** The plan of every workspace. It can be changed while the sandbox runs. Caps are for one licence. */
export const planSchema = z.strictObject({
  licence_count: z.int().min(1).default(2),
  max_search_per_page: cap(25),
  max_search_page: cap(100),
  max_redeem_batch: cap(100),
  max_contact_lookup_batch: cap(100),
  max_monitor: cap(25),
  max_monitor_company: cap(500),
  max_channel_template: cap(50),
})

export type Plan = z.infer<typeof planSchema>
type Cap = Exclude<keyof Plan, 'licence_count'>

/**
 * Returns the plan with the totals of all licences. A total says nothing about one request: 26 rows a page are refused
 * whatever `total_max_search_per_page` is.
 */
export function withTotals(plan: Plan): Plan & Record<`total_${Cap}`, number> {
  const { licence_count: licences, ...caps } = plan
  const totals = Object.entries(caps).map(([name, value]) => [`total_${name}`, value * licences])
  return { ...plan, ...(Object.fromEntries(totals) as Record<`total_${Cap}`, number>) }
}
