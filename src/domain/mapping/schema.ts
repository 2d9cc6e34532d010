import { z } from 'zod'
import { ConfigError } from '../errors.ts'
import {
  conversions,
  unknownFields,
  type CrmMapping,
  type EntityMapping,
  type FieldMapping,
  type IdentityField,
} from './mapping.ts'
import { nearNames } from '../normalise/near-names.ts'

const property = z.string().min(1)
const fieldSchema = z.strictObject({
  property,
  as: z.enum(conversions).optional(),
  options: z.record(z.string(), z.string()).optional(),
  allowNew: z.boolean().optional(),
  create: z
    .strictObject({
      label: z.string().min(1),
      type: z.enum(['text', 'number', 'url', 'email']),
      optional: z.literal(true).optional(),
    })
    .optional(),
})
const identitySchema = z.strictObject({
  profileUrl: z.array(property).optional(),
  domain: z.array(property).optional(),
  email: z.array(property).optional(),
  phone: z.array(property).optional(),
  firstName: z.array(property).optional(),
  lastName: z.array(property).optional(),
  company: z.array(property).optional(),
} satisfies Record<IdentityField, z.ZodType>)

/**
 * The `mapping` of a CRM in `paydirt.config.ts`, by entity: the differences from the default mapping. A field is the name of
 * a property, or a name with a conversion, or `false` for a field that must not be written.
 *
 * @example { companies: { fields: { employees: 'headcount', industry: false }, identity: { profileUrl: ['profile'] } } }
 */
export const mappingSchema = z.record(
  z.string(),
  z.strictObject({
    fields: z.record(z.string(), z.union([property, fieldSchema, z.literal(false)])).optional(),
    identity: identitySchema.optional(),
  }),
)
export type MappingConfig = z.input<typeof mappingSchema>

/** Returns the default mapping with the changes of the config file. Throws ConfigError for unknown entities and fields. */
export function resolveMapping(
  defaults: CrmMapping,
  changes: z.output<typeof mappingSchema> = {},
): CrmMapping {
  const entities: Record<string, EntityMapping> = { ...defaults.entities }
  for (const [entity, change] of Object.entries(changes)) {
    const base = entities[entity]
    if (!base) {
      const known = Object.keys(defaults.entities)
      const near = nearNames(entity, known)
      throw new ConfigError(
        'bad_mapping',
        `mapping.${entity}: there is no such object; it may be ${(near.length > 0 ? near : known).join(', ')}`,
      )
    }
    const fields: Record<string, FieldMapping> = { ...base.fields }
    for (const [name, wanted] of Object.entries(change.fields ?? {})) {
      if (wanted === false) delete fields[name]
      else
        fields[name] = renamed(
          fields[name],
          typeof wanted === 'string' ? { property: wanted } : defined(wanted),
        )
    }
    yieldToChosen(fields, chosen(change), base.defaults ?? [])
    const merged: EntityMapping = {
      object: base.object,
      fields,
      identity: { ...base.identity, ...defined(change.identity ?? {}) },
      ...(base.defaults ? { defaults: base.defaults.filter((place) => !chosen(change).has(place)) } : {}),
    }
    const [wrong] = unknownFields({ object: base.object, fields: asked(change.fields) })
    if (wrong) throw new ConfigError('bad_mapping', `mapping.${entity}.fields: ${wrong}`)
    entities[entity] = merged
  }
  return { entities, own: defaults.own }
}

/** Removes default fields from properties that the config file gives to another field: a whole address in place of its street. */
function yieldToChosen(
  fields: Record<string, FieldMapping>,
  places: ReadonlySet<string>,
  defaults: readonly string[],
): void {
  const isChosen = (name: string): boolean => places.has(`fields.${name}`)
  const taken = new Set(
    Object.entries(fields).flatMap(([name, { property: wanted }]) => (isChosen(name) ? [wanted] : [])),
  )
  for (const [name, { property: wanted }] of Object.entries(fields))
    if (!isChosen(name) && defaults.includes(`fields.${name}`) && taken.has(wanted)) delete fields[name]
}

/** Returns the places that the config file sets. */
function chosen({ fields = {}, identity = {} }: z.output<typeof mappingSchema>[string]): ReadonlySet<string> {
  return new Set([
    ...Object.keys(fields).map((name) => `fields.${name}`),
    ...Object.keys(identity).map((name) => `identity.${name}`),
  ])
}

/** A property keeps its conversion where none is named, but is not created under the new name. */
function renamed(before: FieldMapping | undefined, wanted: FieldMapping): FieldMapping {
  if (!before || wanted.create) return wanted
  return { ...(before.as ? { as: before.as } : {}), ...wanted }
}

function asked(fields: Record<string, unknown> = {}): Record<string, FieldMapping> {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, { property: name }]))
}

function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
