import { z } from 'zod'
import { ConfigError } from '../errors.ts'
import {
  conversions,
  createTypes,
  unknownFields,
  type CrmMapping,
  type EntityMapping,
  type FieldMapping,
  type IdentityField,
} from './mapping.ts'
import { described, ofType, setting } from '../setting.ts'
import { furtherIdentifiers } from '../record.ts'
import { nearNames } from '../normalise/near-names.ts'

const property = z.string().min(1)
const fieldSchema = z.strictObject({
  property: described(property, { means: "the CRM's own name of a property", example: 'headcount' }),
  as: setting(z.enum(conversions), {
    means: "how the value is written, where the property's type does not say it",
    defaultText: "by the property's type",
    example: 'country_name',
  }),
  options: setting(z.record(z.string(), z.string()), {
    type: 'option by value',
    means: 'the option of a picklist for a value of the service',
    defaultText: 'the option of that value or label',
    example: { 'Software Development': 'COMPUTER_SOFTWARE' },
  }),
  allowNew: setting(z.boolean(), {
    means: 'write values without an option too, into a Salesforce picklist that is not restricted',
    default: false,
    example: true,
  }),
  create: setting(
    ofType(
      '`{ label, type, optional }`',
      z.strictObject({
        label: z.string().min(1),
        type: z.enum(createTypes),
        optional: z.literal(true).optional(),
      }),
    ),
    {
      means: 'create the property where it is missing; with `optional`, only for a recipe that wants it',
      defaultText: 'it must exist',
      example: { label: 'Tagline', type: 'text', optional: true },
    },
  ),
})
const placeSchema = fieldSchema.omit({ create: true })
const identitySchema = z.strictObject({
  profileUrl: z.array(property).optional(),
  domain: z.array(property).optional(),
  email: z.array(property).optional(),
  phone: z.array(property).optional(),
  firstName: z.array(property).optional(),
  lastName: z.array(property).optional(),
  company: z.array(property).optional(),
  companyId: z.array(property).optional(),
  tiktokUrl: z.array(property).optional(),
  wantedlyUrl: z.array(property).optional(),
  tw104Url: z.array(property).optional(),
  rocketpunchUrl: z.array(property).optional(),
  rememberUrl: z.array(property).optional(),
  youtrustUrl: z.array(property).optional(),
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
    fields: setting(z.record(z.string(), z.union([property, fieldSchema, z.literal(false)])), {
      means:
        'the place of a field: a property, a property with more to say, or `false` for a field that is not written',
      type: 'a property, `false`, or an object, by [field](#fields)',
      defaultText: '[the default mapping](#default-mappings)',
      example: { employees: 'headcount', industry: false },
      keys: 'FIELD',
    }),
    create: setting(z.record(z.string(), z.union([property, placeSchema, z.literal(false)])), {
      means:
        'the place of a field in a record that Paydirt makes, over that in `fields`; `false`: as in `fields`',
      type: 'as `fields`, by [field](#fields)',
      defaultText: '[the default mapping](#default-mappings)',
      example: { company_name: 'legal_name' },
      keys: 'FIELD',
    }),
    identity: setting(identitySchema, {
      means: 'the properties by which a record is looked up, the first filled one counts',
      type: 'list of properties by [identity](#identity)',
      defaultText: '[the default mapping](#default-mappings)',
      example: { profileUrl: ['profile_link'] },
    }),
  }),
)
export type MappingConfig = z.input<typeof mappingSchema>

/** Returns the schema of the changes to one default mapping. It refuses objects and fields that this mapping cannot have. */
export function mappingSchemaOf({ entities }: CrmMapping): typeof mappingSchema {
  return mappingSchema.superRefine((changes, context) => {
    for (const [entity, change] of Object.entries(changes)) {
      const { identity } = change
      const base = entities[entity]
      const problems = base
        ? (['fields', 'create'] as const).flatMap((part) =>
            unknownFields({ object: base.object, fields: asked(change[part]) }).map((message) => ({
              path: [entity, part],
              message,
            })),
          )
        : [{ path: [entity], message: noSuchObject(entity, Object.keys(entities)) }]
      const further = base?.object === 'person' ? furtherIdentifiers : []
      for (const { field, label } of further)
        if (identity?.[field])
          problems.push({
            path: [entity, 'identity', field],
            message: `a ${label} finds a company, not a person`,
          })
      for (const problem of problems) context.addIssue({ code: 'custom', ...problem })
    }
  })
}

function noSuchObject(entity: string, known: readonly string[]): string {
  const near = nearNames(entity, known)
  return `there is no such object; it may be ${(near.length > 0 ? near : known).join(', ')}`
}

/** Returns the default mapping with the changes of the config file. Throws ConfigError for unknown entities and fields. */
export function resolveMapping(
  defaults: CrmMapping,
  changes: z.output<typeof mappingSchema> = {},
): CrmMapping {
  const entities: Record<string, EntityMapping> = { ...defaults.entities }
  for (const [entity, change] of Object.entries(changes)) {
    const base = entities[entity]
    if (!base) {
      const message = noSuchObject(entity, Object.keys(defaults.entities))
      throw new ConfigError('bad_mapping', `mapping.${entity}: ${message}`)
    }
    const fields = changed(base.fields, change.fields)
    const create = changed(base.create ?? {}, change.create)
    yieldToChosen(fields, chosen(change), base.defaults ?? [])
    const merged: EntityMapping = {
      object: base.object,
      fields,
      ...(Object.keys(create).length > 0 ? { create } : {}),
      identity: { ...base.identity, ...defined(change.identity ?? {}) },
      ...(base.defaults ? { defaults: base.defaults.filter((place) => !chosen(change).has(place)) } : {}),
    }
    for (const part of ['fields', 'create'] as const) {
      const [wrong] = unknownFields({ object: base.object, fields: asked(change[part]) })
      if (wrong) throw new ConfigError('bad_mapping', `mapping.${entity}.${part}: ${wrong}`)
    }
    entities[entity] = merged
  }
  return { ...defaults, entities }
}

type FieldChanges = Readonly<Record<string, z.output<typeof fieldSchema> | string | false>>

function changed(
  before: Readonly<Record<string, FieldMapping>>,
  changes: FieldChanges = {},
): Record<string, FieldMapping> {
  const fields: Record<string, FieldMapping> = { ...before }
  for (const [name, wanted] of Object.entries(changes)) {
    if (wanted === false) delete fields[name]
    else
      fields[name] = renamed(
        fields[name],
        typeof wanted === 'string' ? { property: wanted } : defined(wanted),
      )
  }
  return fields
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
function chosen({
  fields = {},
  create = {},
  identity = {},
}: z.output<typeof mappingSchema>[string]): ReadonlySet<string> {
  return new Set([
    ...Object.keys(fields).map((name) => `fields.${name}`),
    ...Object.keys(create).map((name) => `create.${name}`),
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
