import type { EntityMapping } from './mapping.ts'

/** Returns an entity's mapping for records that we make: every field in its place of `create`, else in that of `fields`. */
export function creating(mapping: EntityMapping): EntityMapping {
  const { fields, create = {}, defaults = [] } = mapping
  return {
    ...mapping,
    // Those of `create` come last: they win where two fields have one property.
    fields: {
      ...Object.fromEntries(Object.entries(fields).filter(([name]) => !(name in create))),
      ...create,
    },
    defaults: [
      ...defaults.filter((place) => !Object.keys(create).some((name) => place === `fields.${name}`)),
      ...Object.keys(create).flatMap((name) =>
        defaults.includes(`create.${name}`) ? [`fields.${name}`] : [],
      ),
    ],
  }
}
