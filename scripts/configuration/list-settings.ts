import { z } from 'zod'
import { noteOf, typeNameOf, type SettingNote } from '../../src/domain/setting.ts'
import { typeText, unwrapped } from './type-text.ts'

export interface Setting {
  /** `budgets.runUsd`, `schedules.NAME.cron`, `desk.users[].role`. */
  path: string
  type: string
  isRequired: boolean
  /** Undefined: nobody has written one. */
  note: SettingNote | undefined
  /** Judges the values of this setting alone. */
  schema: z.ZodType
}

/** Returns every setting below a schema, in its order. A name that a person chooses stands as NAME, OBJECT or FIELD. */
export function listSettings(schema: z.ZodType, path = ''): Setting[] {
  const note = noteAround(schema)
  const inner = unwrapped(schema)
  const members = typeNameOf(inner) === undefined ? membersOf(inner, path, note) : []
  // The members of a value that a note describes as a whole need none of their own.
  const below = note === undefined ? members : withNotes(members)
  // A group without a note of its own is no more than its members.
  const own =
    path !== '' && (note !== undefined || below.length === 0)
      ? [
          {
            path,
            type: note?.type ?? typeText(schema),
            isRequired: !schema.safeParse(undefined).success,
            note,
            schema,
          },
        ]
      : []
  return [...own, ...below]
}

/** Names for what a person chooses, where a note names none. */
const keysOf: Record<string, string> = { recipes: 'NAME', schedules: 'NAME' }

function membersOf(schema: z.ZodType, path: string, note: SettingNote | undefined): Setting[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([key, inner]) =>
      listSettings(inner, path === '' ? key : `${path}.${key}`),
    )
  }
  if (schema instanceof z.ZodArray && unwrapped(schema.element as z.ZodType) instanceof z.ZodObject)
    return membersOf(unwrapped(schema.element as z.ZodType), `${path}[]`, undefined)
  if (schema instanceof z.ZodRecord && schema.keyType instanceof z.ZodString) {
    const name = note?.keys ?? keysOf[path] ?? 'OBJECT'
    return objectsIn(schema.valueType as z.ZodType).flatMap((object) =>
      membersOf(object, `${path}.${name}`, undefined),
    )
  }
  return []
}

function withNotes(settings: Setting[]): Setting[] {
  return settings.some(({ note }) => note) ? settings : []
}

/** Returns the objects among the forms that a value may have. */
function objectsIn(schema: z.ZodType): z.ZodType[] {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodUnion) return (inner.options as z.ZodType[]).flatMap(objectsIn)
  return inner instanceof z.ZodObject ? [inner] : []
}

function noteAround(schema: z.ZodType): SettingNote | undefined {
  const note = noteOf(schema)
  if (note || !(schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)) return note
  return noteAround(schema.unwrap() as z.ZodType)
}
