import { askableProfileUrl, canonicalDomain, profileUrlOf, type Canonical } from '../../domain/keys.ts'
import { bareHost, isPublicHostName, registrableDomain } from '../../domain/normalise/domain.ts'
import { canonicalEmail } from '../../domain/normalise/email.ts'
import { normalForm } from '../../domain/normalise/normal-form.ts'
import { phoneE164 } from '../../domain/normalise/phone.ts'
import {
  canonicalIdentifier,
  isCompanyIdentifier,
  sentIdentifier,
} from '../../domain/planning/company-keys.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Contract } from '../catalogue/catalogue.ts'
import type { RequestField } from '../catalogue/entry.ts'
import { foldWords } from './fold-words.ts'

/** Returns the one spelling in which a text of a request is sent and digested. Reasons never contain the value. */
export function foldText(
  contract: Contract,
  name: string,
  field: RequestField,
  raw: string,
  hosts: readonly string[],
): Canonical {
  const object: ObjectKind = contract.family === 'people' ? 'person' : 'company'
  // Companies of one domain may have several websites with logos of their own.
  if (contract.operation === 'company.logo') return canonicalDomain(raw)
  // A reference to one company has the form that the key of its lookup has.
  if (object === 'company' && isCompanyIdentifier(name) && !contract.request[name]?.isFilter) {
    const canonical = canonicalIdentifier(name, raw, hosts)
    return canonical.ok ? { ok: true, value: sentIdentifier(name, canonical.value) } : canonical
  }
  switch (field.fold) {
    case 'domain':
      return filterDomain(raw)
    case 'url': {
      const profile = askableProfileUrl(object, raw, hosts)
      return profile.ok ? { ok: true, value: profileUrlOf(profile.value) } : profile
    }
    case 'words': {
      const value = foldWords(raw)
      return value === '' ? { ok: false, reason: 'it has no letter and no number' } : { ok: true, value }
    }
    default:
      return plainText(contract, name, raw)
  }
}

function plainText(contract: Contract, name: string, raw: string): Canonical {
  // A sentence is the user's own: only white space around it says nothing.
  if (name === 'query') return { ok: true, value: raw.trim() }
  if (name === 'email') return canonicalEmail(raw)
  if (name === 'phone' && contract.operation === 'person.lookup') {
    const value = phoneE164(raw)
    return value === undefined
      ? { ok: false, reason: 'it is not a phone number with its country prefix (+49 ...)' }
      : { ok: true, value }
  }
  return { ok: true, value: normalForm('NFC', raw).trim() }
}

/** A filter may also name a public suffix that somebody uses as a website: `gov.uk`. */
function filterDomain(raw: string): Canonical {
  const domain = registrableDomain(raw)
  if (domain.ok) return domain
  const host = bareHost(raw)
  return host !== undefined && isPublicHostName(host) ? { ok: true, value: host } : domain
}
