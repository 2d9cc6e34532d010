import { redemption, type PersonReference } from './contact-keys.ts'
import { contactFields, contactTypes } from '../contact-types.ts'
import { readRedemption, type ContactValue } from './contact-values.ts'
import type { Facts, Candidate } from './step.ts'
import type { Recipe } from './recipes.ts'
import type { Fact } from '../record.ts'

/** Returns one candidate a contact type that is wanted and that no answer has revealed yet. */
export function redemptionCandidates(
  person: PersonReference,
  contacts: readonly ContactValue[],
  recipe: Recipe,
  facts: Facts,
): Candidate[] {
  if (!recipe.steps.includes('contact.redeem')) return []
  return contactTypes
    .filter((type) => !facts[`contact.redeem:${type}`] && !contacts.some((contact) => contact.type === type))
    .flatMap((type) => {
      const missing = contactFields[type].filter((field) => recipe.fields.includes(field))
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
