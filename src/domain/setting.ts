import { z } from 'zod'

/** The note on a setting in docs/configuration.md, beside the type that its schema has. */
export interface SettingNote {
  /** The effect of the setting, in one line. */
  means: string
  /** The value in force without it. */
  default?: unknown
  /** The same in words, where it is not one value: `every object`. */
  defaultText?: string
  /** A value to copy. A secret has none. */
  example?: unknown
  isSecret?: true
  /** Its type in words, where the schema's own says too little: `amount in USD by step`. */
  type?: string
  /** The placeholder for the keys of a record: `NAME`, where a person chooses them. */
  keys?: string
}

const notes = z.registry<SettingNote>()
const typeNames = z.registry<{ name: string }>()

/** Returns an optional setting with what the reference says of it. Every setting has such a note, which a test holds. */
export function setting<Schema extends z.ZodType>(schema: Schema, note: SettingNote): z.ZodOptional<Schema> {
  return described(schema.optional(), note)
}

/** The same for a setting that must be there, or that has its default in the schema. */
export function described<Schema extends z.ZodType>(schema: Schema, note: SettingNote): Schema {
  const own = schema.clone()
  notes.add(own, note)
  return own
}

/** Gives a schema the name by which the reference calls its type. */
export function ofType<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  typeNames.add(schema, { name })
  return schema
}

export function noteOf(schema: z.ZodType): SettingNote | undefined {
  return notes.get(schema)
}

export function typeNameOf(schema: z.ZodType): string | undefined {
  return typeNames.get(schema)?.name
}
