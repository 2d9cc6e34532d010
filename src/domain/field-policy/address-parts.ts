import { stateCode } from '../normalise/address.ts'
import { countryCode } from '../normalise/country.ts'
import type { FieldValue, Patch } from '../record.ts'
import { sameValue } from './same-value.ts'

const parts = ['street', 'city', 'state', 'postal_code'] as const
type Part = (typeof parts)[number] | 'country_code'

/**
 * Returns the parts of an address that must not be written, because the record keeps a part of another address: a
 * street of Munich beside the city of Berlin is an address that nobody has. Its country goes with them where state, city or
 * postal code are others: a record of Leeds became one of Leeds in Brazil. `wanted` are all values that the facts propose, `patch`
 * those that the policy allows.
 */
export function strayAddressParts(
  current: Readonly<Record<string, FieldValue>>,
  wanted: Patch,
  patch: Patch,
): string[] {
  const written = parts.filter((part) => part in patch)
  const hasCountry = 'country_code' in patch
  if (written.length === 0 && !hasCountry) return []
  const country = textOf(current['country_code']) ?? setBy(wanted, 'country_code')
  const isOther = (part: Part): boolean => {
    const now = current[part]
    const ours = setBy(wanted, part)
    if (now === undefined || ours === undefined || part in patch) return false
    if (part === 'state') return !isSameState(String(now), ours, country)
    return part === 'country_code' ? !sameValue(part, now, ours) : !isSameText(now, ours)
  }
  // A part that stands there and is not in our address cannot be compared: only another address tells it.
  const standsAlone = parts.some(
    (part) => current[part] !== undefined && !(part in patch) && setBy(wanted, part) === undefined,
  )
  const isStray =
    ([...parts, 'country_code'] as const).some(isOther) || (standsAlone && !isAnchored(current, wanted))
  if (!isStray) return []
  return hasCountry && elsewhere.some(isOther) ? [...written, 'country_code'] : written
}

/** Another street may stand in the same place. */
const elsewhere = ['city', 'state', 'postal_code'] as const

/** Returns true where city or postal code of the record are those of our address. */
function isAnchored(current: Readonly<Record<string, FieldValue>>, wanted: Patch): boolean {
  return (['city', 'postal_code'] as const).some((part) => {
    const ours = setBy(wanted, part)
    const now = current[part]
    return ours !== undefined && now !== undefined && isSameText(now, ours)
  })
}

function isSameState(now: string, ours: string, country: string | undefined): boolean {
  const code = country === undefined ? undefined : countryCode(country)
  const [one, other] = [stateCode(now, code), stateCode(ours, code)]
  return (one !== undefined && one === other) || isSameText(now, ours)
}

function isSameText(one: FieldValue, other: FieldValue): boolean {
  const [a, b] = [one, other].map((value) =>
    String(value)
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}]/gu, ''),
  )
  return a === b
}

function setBy(patch: Patch, part: Part): string | undefined {
  const change = patch[part]
  return change && 'set' in change ? String(change.set) : undefined
}

function textOf(value: FieldValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
