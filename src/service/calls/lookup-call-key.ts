import { lookupKey, profileOfUrl, type LookupKey } from '../../domain/keys.ts'
import { contactTypes, isContactType } from '../../domain/contact-types.ts'
import {
  companyIdentifierNames,
  canonicalIdentifier,
  companyKey,
} from '../../domain/planning/company-keys.ts'
import { contactSearch, redemption } from '../../domain/planning/contact-keys.ts'
import type { Identity } from '../../domain/record.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import { badCall } from './bad-call.ts'

type Body = Readonly<Record<string, unknown>>

/** Returns the key that the planner gives to the same lookup, so that a call by hand is never paid beside it. */
export function keyOfLookup({ operation }: Contract, canonical: Body): LookupKey {
  const text = (name: string): string | undefined => canonical[name] as string | undefined
  const url = text('profnet_url')
  const profile = url === undefined ? undefined : profileOfUrl(url)
  switch (operation) {
    case 'company.profile':
    case 'company.lookup':
    case 'company.enrich': {
      const name = companyIdentifierNames.find((each) => canonical[each] !== undefined)
      if (name === undefined) break
      if (profile !== undefined) return companyKey(operation, 'profnet_url', profile)
      const value = canonicalIdentifier(name, text(name) ?? '')
      if (!value.ok) throw badCall(operation, `${name}: ${value.reason}`)
      return companyKey(operation, name, value.value)
    }
    case 'contact.lookup': {
      const asked = searchOfContact(canonical)
      if (!asked.ok) throw badCall(operation, asked.reason)
      return asked.search.key
    }
    case 'contact.redeem': {
      const types = canonical['people_contact_types'] as string[]
      const [type = ''] = types
      if (types.length !== 1 || !isContactType(type))
        throw badCall(
          operation,
          `people_contact_types takes one of ${contactTypes.join(', ')} a call: each is bought and kept by itself`,
        )
      const id = text('people_search_id')
      return redemption(
        { ...(profile !== undefined && { profile }), ...(id !== undefined && { peopleSearchId: id }) },
        type,
      ).key
    }
    case 'person.lookup': {
      const [email, phone, id] = [text('email'), text('phone'), text('people_search_id')]
      const named = { email, phone, id }
      const [kind, value] = Object.entries(named).find(([, each]) => each !== undefined) ?? []
      if (profile === undefined && kind === undefined) break
      const name = profile ?? `${kind}:${value}`
      // An enriched answer has more, and may have another price.
      return lookupKey(operation, canonical['is_enrichment_available'] === true ? `${name}|enriched` : name)
    }
    case 'company.logo':
      return lookupKey(operation, text('domain') ?? '')
    case 'person.profile':
      if (profile !== undefined) return lookupKey(operation, profile)
  }
  throw badCall(operation, 'it names nothing to look up by')
}

const partOf = {
  email: 'email',
  phone: 'phone',
  first_name: 'firstName',
  last_name: 'lastName',
  domain: 'domain',
  company: 'company',
} as const satisfies Record<string, keyof Identity>

export function searchOfContact(body: Body): ReturnType<typeof contactSearch> {
  return contactSearch(identityOf(body), { similarity: body['is_enable_similarity_search'] === true })
}

function identityOf(canonical: Body): Identity {
  return Object.fromEntries(
    Object.entries(partOf).flatMap(([name, part]) =>
      typeof canonical[name] === 'string' ? [[part, canonical[name]]] : [],
    ),
  )
}
