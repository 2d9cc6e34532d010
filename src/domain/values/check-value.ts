import { canonicalProfileUrl } from '../keys.ts'
import { countryCode } from '../normalise/country.ts'
import { bareHost, registrableDomain } from '../normalise/domain.ts'
import { canonicalEmail } from '../normalise/email.ts'
import { phoneWithExtension } from '../normalise/phone.ts'
import type { FieldValue } from '../record.ts'
import type { ValueKind } from './kinds.ts'
import { isoDay, parseIsoTime } from './iso-time.ts'
import { parseNumber } from './number.ts'
import { textFault } from './text-fault.ts'
import { webAddressFault } from './web-address.ts'

export type CheckedValue = { ok: true; value: FieldValue } | { ok: false; reason: string }

const lengths = { label: 1_000, text: 200_000 } as const
/** More people than there are. */
const mostCounted = 10_000_000_000
/** The oldest companies are from the sixth century. */
const years = { first: 500, last: 2_100 } as const

/**
 * Returns a value of an answer as it may be written, or why it is none of its kind: a URL is one of http or https, a year is
 * a year. Nothing unchecked reaches a CRM or a file. Reasons never contain the value. Idempotent.
 */
export function checkValue(kind: ValueKind, raw: FieldValue): CheckedValue {
  if (kind === 'count' || kind === 'year' || kind === 'change' || kind === 'score')
    return checkNumber(kind, raw)
  const text = String(raw).trim()
  const fault = textFault(text, kind === 'label' ? lengths.label : lengths.text)
  if (fault !== undefined) return refuse(fault)
  switch (kind) {
    case 'label':
    case 'text':
      return { ok: true, value: typeof raw === 'string' ? text : raw }
    case 'url': {
      const problem = webAddressFault(text)
      return problem === undefined ? { ok: true, value: text } : refuse(problem)
    }
    case 'company_profile':
    case 'person_profile': {
      const problem = webAddressFault(text)
      if (problem !== undefined) return refuse(problem)
      const profile = canonicalProfileUrl(kind === 'company_profile' ? 'company' : 'person', text)
      return profile.ok ? { ok: true, value: text } : refuse(profile.reason)
    }
    case 'domain': {
      const domain = registrableDomain(text)
      if (/\p{Cf}/u.test(text)) return refuse('it has characters that no domain has')
      if (!domain.ok) return refuse(domain.reason)
      // A website address in the place of a domain is read as its host.
      const value = /^[\p{L}\p{M}\p{N}.-]+$/u.test(text) ? text : (bareHost(text) as string)
      return { ok: true, value }
    }
    case 'email': {
      if (/\p{Cf}/u.test(text)) return refuse('it has characters that no e-mail address has')
      const email = canonicalEmail(text)
      return email.ok ? { ok: true, value: email.value } : refuse(email.reason)
    }
    case 'phone': {
      const phone = phoneWithExtension(text)
      return phone === undefined ? refuse('it is not a phone number') : { ok: true, value: phone }
    }
    case 'country': {
      const code = countryCode(text)
      return code === undefined ? refuse('it is not a known country') : { ok: true, value: code }
    }
    case 'date':
    case 'datetime': {
      const atMs = parseIsoTime(text)
      if (atMs === undefined) return refuse('it is not a date of ISO 8601')
      return { ok: true, value: kind === 'date' ? isoDay(atMs) : new Date(atMs).toISOString() }
    }
    case 'flag':
      if (/^(?:true|yes)$/i.test(text)) return { ok: true, value: true }
      if (/^(?:false|no)$/i.test(text)) return { ok: true, value: false }
      return refuse('it is neither yes nor no')
  }
}

const bounds = {
  year: { least: years.first, most: years.last, what: 'a year' },
  count: { least: 0, most: mostCounted, what: 'a count' },
  change: { least: -mostCounted, most: mostCounted, what: 'a whole number' },
  score: { least: -mostCounted, most: mostCounted, what: 'a number' },
} as const

function checkNumber(kind: keyof typeof bounds, raw: FieldValue): CheckedValue {
  // A thousand for some, one for others, and nobody counts in thousandths.
  if (typeof raw === 'string' && /^\s*\d{1,3}\.\d{3}\s*$/.test(raw)) return refuse('it can be two numbers')
  const number = typeof raw === 'number' ? raw : typeof raw === 'string' ? parseNumber(raw) : undefined
  const { least, most, what } = bounds[kind]
  const isWhole = kind === 'score' || Number.isInteger(number)
  if (number === undefined || !isWhole || !(number >= least && number <= most))
    return refuse(`it is not ${what}`)
  return { ok: true, value: number + 0 }
}

function refuse(reason: string): CheckedValue {
  return { ok: false, reason }
}
