import { contactFields, contactTypes } from '../contact-types.ts'
import type { FactSlot } from './step.ts'
import type { Recipe } from './recipes.ts'
import { freeOperations } from '../words.ts'

/** The steps that a recipe may buy, in no order; of redemptions those types whose fields it wants. */
export function paidSteps({ steps, fields }: Recipe): FactSlot[] {
  return steps
    .filter((operation) => !freeOperations.includes(operation))
    .flatMap((operation): FactSlot[] => {
      if (operation !== 'contact.redeem') return [operation]
      const wanted = contactTypes.filter((type) =>
        contactFields[type].some((field) => fields.includes(field)),
      )
      return wanted.map((type) => `contact.redeem:${type}` as const)
    })
}
