import { redemption, type PersonReference } from './contact-keys.ts'
import { contactFields, contactTypes } from '../contact-types.ts'
import { readRedemption, type ContactValue } from './contact-values.ts'
import { canonicalEmail, companyDomainOf } from '../normalise/email.ts'
import type { Facts, PlannedRecord, Candidate } from './step.ts'
import type { Recipe } from './recipes.ts'
import type { Fact } from '../record.ts'

/** Returns one candidate a contact type that is wanted, that the record lacks, and that no answer has revealed yet. */
export function redemptionCandidates(
  person: PersonReference,
  record: PlannedRecord,
  contacts: readonly ContactValue[],
  recipe: Recipe,
  facts: Facts,
): Candidate[] {
  if (!recipe.steps.includes('contact.redeem')) return []
  return contactTypes
    .filter((type) => !facts[`contact.redeem:${type}`] && !contacts.some((contact) => contact.type === type))
    .flatMap((type) => {
      const missing = contactFields[type].filter(
        (field) => recipe.fields.includes(field) && !hasValue(field, record),
      )
      if (missing.length === 0) return []
      const lookup = { operation: 'contact.redeem' as const, ...redemption(person, type) }
      return [
        {
          lookup,
          why: `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} wanted, and the record has none`,
        },
      ]
    })
}

/** Returns whether the record has a value in the field, as far as is known before it is read again for writing. */
function hasValue(field: string, { identity, values }: PlannedRecord): boolean {
  if (values?.[field] !== undefined) return true
  const isPersonal =
    identity.email !== undefined && canonicalEmail(identity.email).ok && !companyDomainOf(identity.email)
  switch (field) {
    case 'email':
      return identity.email !== undefined
    case 'email_personal':
      return isPersonal
    // Without the record's values, an identifying phone may be in either of the two phone fields.
    case 'mobile_phone':
      return values === undefined && identity.phone !== undefined
    default:
      return identity.phone !== undefined
  }
}

/** Returns the contacts that redemptions have revealed. */
export function revealed(facts: Facts): ContactValue[] {
  return contactTypes.flatMap((type) => {
    const fact = facts[`contact.redeem:${type}`]
    return fact ? readRedemption(type, fact).values : []
  })
}

/** Returns the facts of all redemptions, whether found or not. */
export function redemptions(facts: Facts): Fact[] {
  return contactTypes.flatMap((type) => facts[`contact.redeem:${type}`] ?? [])
}
