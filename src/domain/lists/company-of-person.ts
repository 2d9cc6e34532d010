import type { FieldValue, Identity } from '../record.ts'
import { recordIdentities, type IdentityOptions, type RecordIdentity } from '../subjects/record-identities.ts'
import { identityText } from './judged-row.ts'
import type { ListRow, StoredRow } from './list-row.ts'

/**
 * The places of a plan's companies that are made for its people stand behind those of all rows: so an undo meets the people first, and
 * then companies to which nobody is tied any more.
 */
export const firstCompanyPlace = 1_000_000_000

/**
 * Returns the company of a person's row, as a row of its own: that at which the person was found, or the employer whom the row names.
 * Undefined: it names none. A mailbox provider's domain names no company. Pure.
 */
export function companyOfPerson(
  { identity, values: given, page, company }: Pick<StoredRow, 'identity' | 'values' | 'page' | 'company'>,
  options: IdentityOptions = {},
): ListRow | undefined {
  if (company) {
    const { identity: own, identities, values } = company
    return { object: 'company', page, serviceId: nameOf(identities), identity: own, identities, values }
  }
  const text = (...values: (FieldValue | undefined)[]): string | undefined =>
    values.map((value) => (value === undefined ? '' : String(value).trim())).find((value) => value !== '')
  const name = text(given['company_name'], identity.company)
  const wanted: Identity = {
    ...named('profileUrl', text(given['company_profnet_url'])),
    ...named('companyId', text(given['company_id'])),
    ...named('domain', text(given['company_domain'], given['company_website'], identity.domain)),
    ...named('company', name),
  }
  const identities = recordIdentities({ object: 'company', identity: wanted }, options)
  if (identities.length === 0) return undefined
  const domain = identities.find(({ kind }) => kind === 'domain')?.value
  const { domain: _, ...others } = wanted
  return {
    object: 'company',
    page,
    serviceId: nameOf(identities),
    identity: { ...others, ...named('domain', domain) },
    values: {
      ...named('company_name', name),
      ...named('domain', domain),
      ...named('profnet_url', wanted.profileUrl),
    },
    identities,
  }
}

function named<Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, string>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, string>)
}

/** Returns the name by which rows have the same company: those of one domain do, however they write its name. */
function nameOf(identities: readonly RecordIdentity[]): string | null {
  const best = identities.find(({ kind }) => kind === 'domain') ?? identities[0]
  return best ? identityText(best) : null
}
