import { lockOf, type FieldRule } from '../field-policy/field-policy.ts'
import { toCrm } from '../mapping/convert.ts'
import type { DescribedField, EntityMapping, FieldMapping } from '../mapping/mapping.ts'
import type { FieldValue } from '../record.ts'
import { kindOf } from '../values/kinds.ts'
import { samplesOf } from './sample-values.ts'

/**
 * The reason why nothing can be written to a field. In the account: the mapping has no place for it (`not_mapped`), or one that another
 * field of the recipe has too (`shared`), the account lacks the property (`no_property`), it is read-only (`read_only`), its type takes no value of this kind (`wrong_type`), the
 * policy forbids it (`never`). In the record: it has a value that may not be replaced (`filled`), a person changed or
 * cleared ours (`edited`), or our last write was undone under the same policy and mapping (`undone`).
 */
export const closedReasons = [
  'not_mapped',
  'shared',
  'no_property',
  'read_only',
  'wrong_type',
  'never',
  'filled',
  'edited',
  'undone',
] as const
export type ClosedReason = (typeof closedReasons)[number]

/** The fields to which nothing can be written. A field that is not among them is open. */
export type ClosedFields = Readonly<Record<string, ClosedReason>>

/** The fields of an account, as far as they decide what could be written. */
export interface AccountFields {
  /** By canonical field. Absent for a source that has a place for every field, as a file has. */
  mapping?: Pick<EntityMapping, 'fields'> | undefined
  /** The properties that exist in the account, or that the run will create, by name. */
  schema: ReadonlyMap<string, DescribedField>
  rule: (field: string) => FieldRule
}

/** A record's values now, without blanks, and the values that we wrote last, both by canonical field. */
export interface RecordFields {
  values: Readonly<Record<string, FieldValue>>
  ours?: Readonly<Record<string, FieldValue | undefined>> | undefined
  /** The fields in which our last write was undone under the policy and mapping of now. */
  undone?: ReadonlySet<string> | undefined
}

/**
 * Returns why nothing could be written to a field, whatever an answer says, or undefined for a field that could change. Pure:
 * the one notion by which every trigger decides whether a lookup is worth its price. Without a record it tells what holds for
 * all records of the account.
 */
function whyClosed(
  field: string,
  { mapping, schema, rule }: AccountFields,
  record?: RecordFields,
): ClosedReason | undefined {
  if (mapping) {
    const mapped = Object.hasOwn(mapping.fields, field) ? mapping.fields[field] : undefined
    if (!mapped) return 'not_mapped'
    const described = schema.get(mapped.property)
    if (!described) return 'no_property'
    if (!described.writable) return 'read_only'
    if (!takes(described, mapped, field)) return 'wrong_type'
  }
  const allowed = rule(field)
  if (allowed === 'never') return 'never'
  if (!record) return undefined
  const lock = lockOf(field, { current: record.values, ours: record.ours ?? {}, rule: allowed })
  return lock ?? (record.undone?.has(field) ? 'undone' : undefined)
}

/** Returns those of the fields to which nothing could be written. */
export function closedFields(
  fields: readonly string[],
  account: AccountFields,
  record?: RecordFields,
): ClosedFields {
  const closed: Record<string, ClosedReason> = {}
  const taken = new Set<string>()
  for (const field of inOrderOfMapping(fields, account)) {
    const property = account.mapping?.fields[field]?.property
    // A property can keep only one of two values.
    const why = property !== undefined && taken.has(property) ? 'shared' : whyClosed(field, account, record)
    if (why !== undefined) closed[field] = why
    if (property !== undefined && whyClosed(field, account) === undefined) taken.add(property)
  }
  return closed
}

function inOrderOfMapping(fields: readonly string[], { mapping }: AccountFields): readonly string[] {
  if (!mapping) return fields
  const mapped = Object.keys(mapping.fields).filter((field) => fields.includes(field))
  return [...mapped, ...fields.filter((field) => !mapped.includes(field))]
}

/** Returns whether the property could hold some value of the field's kind. */
function takes(described: DescribedField, mapped: FieldMapping, field: string): boolean {
  const { options } = described
  // The option that a text means is not known before there is one; a list of options takes only what stands in it.
  const asked =
    options && !(described.restricted === false && mapped.allowNew)
      ? [...options.flatMap(({ value, label }) => [value, label]), ...Object.keys(mapped.options ?? {})]
      : undefined
  const kind = kindOf('company', field)
  return samplesOf(field, asked).some((sample) => toCrm(sample, described, mapped, { kind }).ok)
}
