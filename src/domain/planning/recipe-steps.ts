import { isFreeOperation, isTypedOperation, slotRow, slotsOf } from '../operations.ts'
import type { Recipe } from './recipes.ts'
import type { FactSlot } from './step.ts'

/** Returns the steps that a recipe may buy, in no order; of redemptions, the types whose fields it wants. */
export function paidSteps({ steps, fields }: Recipe): FactSlot[] {
  return steps
    .filter((operation) => !isFreeOperation(operation))
    .flatMap((operation) => {
      if (!isTypedOperation(operation)) return slotsOf(operation)
      return slotsOf(operation).filter((slot) =>
        slotRow(slot).tells.person.some((field) => fields.includes(field)),
      )
    })
}
