import type { ListRow } from './list-row.ts'

/** People wanted at each company. */
export interface WantedPeople {
  perCompany: number
  levels?: readonly string[] | undefined
  departments?: readonly string[] | undefined
  titles?: readonly string[] | undefined
}

/**
 * Returns the filters of a search for people at a company: by its domain, else by the service's id of it. Undefined for a company
 * that neither names, at which nobody can be searched for. A mailbox provider's domain names no company. Pure.
 */
export function companyQuestion(
  { identities, serviceId }: Pick<ListRow, 'identities' | 'serviceId'>,
  { perCompany, levels, departments, titles }: WantedPeople,
): Record<string, unknown> | undefined {
  const domain = identities.find(({ kind }) => kind === 'domain')?.value
  if (domain === undefined && serviceId === null) return undefined
  return {
    ...(domain === undefined ? { domain_search_ids: [serviceId] } : { domains: [domain] }),
    ...(levels && { management_levels: levels }),
    ...(departments && { departments }),
    ...(titles && { people_titles: titles }),
    per_page: perCompany,
  }
}
