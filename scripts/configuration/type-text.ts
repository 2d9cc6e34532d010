import { z } from 'zod'
import { typeNameOf } from '../../src/domain/setting.ts'

/** Returns the type of a setting as a person reads it: `whole number, 1 to 500`. */
export function typeText(schema: z.ZodType): string {
  const inner = unwrapped(schema)
  const name = typeNameOf(inner)
  if (name !== undefined) return name
  if (inner instanceof z.ZodEnum) return inner.options.map((option) => `\`${option}\``).join(', ')
  if (inner instanceof z.ZodBoolean) return '`true`, `false`'
  if (inner instanceof z.ZodLiteral) return [...inner.values].map((value) => `\`${value}\``).join(', ')
  if (inner instanceof z.ZodNumber) return numberText(inner)
  if (inner instanceof z.ZodString || inner instanceof z.ZodURL) return 'text'
  if (inner instanceof z.ZodArray) return `list of ${plural(typeText(inner.element as z.ZodType))}`
  if (inner instanceof z.ZodRecord) return recordText(inner)
  if (inner instanceof z.ZodUnion)
    return (inner.options as z.ZodType[])
      .map(typeText)
      .join(', or ')
      .replace(/`true`, `false`/, '`true`')
  if (inner instanceof z.ZodObject) return `{ ${Object.keys(inner.shape as object).join(', ')} }`
  throw new Error(`${inner.type} has no text`)
}

/** Returns what is inside of optional, default and pipe, except what has a name of its own. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  if (typeNameOf(schema) !== undefined) return schema
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return unwrapped(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in as z.ZodType)
  return schema
}

function numberText(schema: z.ZodNumber): string {
  const isWhole = schema.format === 'safeint'
  const { minValue, maxValue } = schema
  const kind = isWhole ? 'whole number' : 'number'
  const least =
    minValue !== null && Number.isFinite(minValue) && Math.abs(minValue) < 2 ** 50 ? minValue : null
  const most = maxValue !== null && Number.isFinite(maxValue) && maxValue < 2 ** 50 ? maxValue : null
  const isAbove = least === 0 && !schema.safeParse(0).success
  if (least !== null && most !== null)
    return isAbove ? `${kind} above 0, to ${most}` : `${kind}, ${least} to ${most}`
  if (least === null) return kind
  return isAbove ? `${kind} above 0` : `${kind}, ${least} or more`
}

function recordText(schema: z.ZodRecord): string {
  const { keyType } = schema
  const value = typeText(schema.valueType as z.ZodType)
  if (keyType instanceof z.ZodEnum) {
    const keys = keyType.options.map(String)
    return keys.length > 6 ? `${value} by name` : `${value} by ${keys.map((key) => `\`${key}\``).join(', ')}`
  }
  return `${value} by name`
}

function plural(text: string): string {
  return text === 'text' ? 'texts' : text
}
