import { InputError } from '../../domain/errors.ts'
import { canonicalProfileUrl, lookupKey, type Canonical, type LookupKey } from '../../domain/keys.ts'
import { companyDomain, contactSearch, redemption } from '../../domain/planning/contact-keys.ts'
import { contactTypes, isContactType } from '../../domain/contact-types.ts'
import type { Operation } from '../../domain/words.ts'

type Body = Readonly<Record<string, unknown>>

/**
 * Returns the key that records' lookups have too, so that a call meets the answer that a run has bought, and the other way
 * round. Returns undefined for a request that no recipe makes: its key is a digest. Throws InputError for one that names nothing.
 */
export function keyOfLookup(
  operation: Operation,
  body: Body,
  hosts: readonly string[],
): LookupKey | undefined {
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : undefined)
  const profile = (kind: 'company' | 'person') => {
    const url = text('profnet_url')
    return url === undefined ? undefined : checked(operation, canonicalProfileUrl(kind, url, hosts))
  }
  switch (operation) {
    case 'company.profile':
    case 'person.profile':
      return keyed(operation, profile(operation === 'company.profile' ? 'company' : 'person'))
    case 'company.lookup':
      return keyed(operation, domainOf(operation, text('domain')))
    case 'company.enrich':
      return keyed(operation, profile('company') ?? domainOf(operation, text('domain')))
    case 'company.logo':
      return keyed(operation, domainOf(operation, text('domain')))
    case 'contact.lookup': {
      const similarity = body['is_enable_similarity_search'] === true
      const found = contactSearch(
        given({
          email: text('email'),
          phone: text('phone'),
          firstName: text('first_name'),
          lastName: text('last_name'),
          domain: text('domain'),
          company: text('company'),
        }),
        { similarity },
      )
      if (!found.ok) throw new InputError('bad_call', `${operation}: ${found.reason}`)
      return found.search.key
    }
    case 'contact.redeem': {
      const [type, ...others] = Array.isArray(body['people_contact_types'])
        ? body['people_contact_types']
        : []
      if (others.length > 0 || typeof type !== 'string' || !isContactType(type))
        throw new InputError(
          'bad_call',
          `${operation}: people_contact_types takes one of ${contactTypes.join(', ')}: each type is bought and kept by itself`,
        )
      const reference = { profile: profile('person'), peopleSearchId: text('people_search_id') }
      return redemption(given(reference), type).key
    }
    default:
      return undefined
  }
}

/** Returns the values that are there. */
function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function domainOf(operation: Operation, raw: string | undefined): string | undefined {
  return raw === undefined ? undefined : checked(operation, companyDomain(raw))
}

function checked(operation: Operation, canonical: Canonical): string {
  if (canonical.ok) return canonical.value
  throw new InputError('bad_call', `${operation}: ${canonical.reason}`)
}

function keyed(operation: Operation, canonical: string | undefined): LookupKey | undefined {
  return canonical === undefined ? undefined : lookupKey(operation, canonical)
}
