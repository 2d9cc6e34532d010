import type { Connector } from '../../../connectors/connector.ts'
import type { RecordMaker } from '../../../connectors/creating.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { toCrm } from '../../../domain/mapping/convert.ts'
import { creating } from '../../../domain/mapping/creating.ts'
import type { DescribedField } from '../../../domain/mapping/mapping.ts'
import { refusalWords } from '../../../domain/mapping/refusal-words.ts'
import { nearNames } from '../../../domain/normalise/near-names.ts'
import type { FieldValue } from '../../../domain/record.ts'
import { kindOf } from '../../../domain/values/kinds.ts'
import type { ListSettings } from '../../config/lists.ts'

export type MakingConnector = Connector & { maker: RecordMaker }

/** A row as a new record would hold it. */
export interface FittedRow {
  /** By the CRM's own property names. */
  properties: Record<string, FieldValue>
  /** The values that do not fit, by canonical field, in words. */
  leftOut: Record<string, string>
  /** The fields without which the CRM makes no record. */
  missing: string[]
}

/**
 * Returns a function that fits rows to the fields of an object, as the CRM describes them now. Throws ConfigError for constants that it
 * does not take.
 */
export async function rowFitter(
  connector: MakingConnector,
  { into: { entity, set = {} } }: Pick<ListSettings, 'into'>,
  list: string,
): Promise<(values: Readonly<Record<string, FieldValue>>, owner?: string) => FittedRow> {
  const described = new Map((await connector.describe(entity)).map((field) => [field.name, field]))
  assertConstants(set, described, `lists.${list}.into.set`, entity)
  const given = connector.mapping?.entities[entity]
  const mapping = given && creating(given)
  const fields = mapping?.fields ?? {}
  const required = [...described.values()].filter((field) => field.required === true && !isOwner(field.name))
  const oneOf = connector.maker.needsOneOf?.(entity) ?? []
  return (values, owner) => {
    const country = values['country_code']
    const properties: Record<string, FieldValue> = {}
    const leftOut: Record<string, string> = {}
    const fitting = new Set<string>()
    for (const [field, value] of Object.entries(values)) {
      const mapped = fields[field]
      const property = mapped && described.get(mapped.property)
      if (!mapping || !property) continue
      const fitted = toCrm(value, property, mapped, {
        country: country === undefined ? undefined : String(country),
        kind: kindOf(mapping.object, field),
      })
      if (!fitted.ok) leftOut[field] = refusalWords(fitted.code)
      else {
        properties[property.name] = fitted.value
        fitting.add(field)
      }
    }
    Object.assign(properties, set)
    if (owner !== undefined) properties[ownerOf(described)] = owner
    const missing = required
      .filter(({ name }) => properties[name] === undefined)
      .map(({ name }) => Object.keys(fields).find((field) => fields[field]?.property === name) ?? name)
    const hasOne = oneOf.some((field) => fitting.has(field) || (fields[field]?.property ?? '') in properties)
    if (oneOf.length > 0 && !hasOne) missing.push(oneOf.join(' or '))
    return { properties, leftOut, missing }
  }
}

const ownerProperties = ['hubspot_owner_id', 'OwnerId']
const isOwner = (name: string): boolean => ownerProperties.includes(name)

function ownerOf(described: ReadonlyMap<string, DescribedField>): string {
  return ownerProperties.find((name) => described.has(name)) ?? 'owner'
}

function assertConstants(
  set: NonNullable<ListSettings['into']['set']>,
  described: ReadonlyMap<string, DescribedField>,
  place: string,
  entity: string,
): void {
  for (const [name, value] of Object.entries(set)) {
    const field = described.get(name)
    const near = nearNames(name, [...described.keys()])
    if (!field)
      throw new ConfigError(
        'bad_constant',
        `${place}: ${entity} has no property ${name}${near.length > 0 ? `; near: ${near.join(', ')}` : ''}`,
      )
    if (!field.writable) throw new ConfigError('bad_constant', `${place}: ${name} cannot be written`)
    const fitted = toCrm(value as FieldValue, field)
    if (!fitted.ok) throw new ConfigError('bad_constant', `${place}: ${name}: ${fitted.reason}`)
  }
}
