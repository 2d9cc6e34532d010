import { saveError, type SaveError } from '../errors.ts'
import type { FieldDefinition } from '../schema.ts'

/** Rounds a number to its field's decimals. One with more digits before the point than the field has is refused. */
export function readNumber(
  { name, label, scale }: Pick<FieldDefinition, 'name' | 'label' | 'scale'>,
  number: number,
): number | SaveError {
  if (scale === undefined) return number
  if (Math.abs(number) >= 10 ** (18 - scale))
    return saveError(
      'NUMBER_OUTSIDE_VALID_RANGE',
      `${label}: value outside of valid range on numeric field: ${number}`,
      [name],
    )
  return Math.round(number * 10 ** scale) / 10 ** scale
}
