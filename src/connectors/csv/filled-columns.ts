import { boughtFieldNames } from '../../domain/fields.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { cellText } from './cell-text.ts'
import { foldName, type IdentityField } from './column-names.ts'
import type { RecognisedColumns } from './columns.ts'
import { ourPrefix } from './output-columns.ts'

/** The canonical field that an identifying column fills, by its object. */
const identityFields: Record<ObjectKind, Partial<Record<IdentityField, string>>> = {
  company: { profileUrl: 'profnet_url', domain: 'domain', company: 'company_name' },
  person: {
    profileUrl: 'profnet_url',
    email: 'email',
    phone: 'phone',
    firstName: 'first_name',
    lastName: 'last_name',
    company: 'company_name',
    domain: 'company_domain',
  },
}

/** The fields whose values are names: a person may be called Null. */
const nameFields: Readonly<Record<string, IdentityField>> = {
  first_name: 'firstName',
  last_name: 'lastName',
  full_name: 'lastName',
  company_name: 'company',
}

/**
 * Returns a reader of the fields that a row has already: in a column of the field's name, in `paydirt_<field>` of an earlier
 * output, or in the column that identifies it. Nothing is bought for a field that is filled.
 */
export function valuesReader(
  columns: readonly string[],
  found: RecognisedColumns,
  object: ObjectKind,
): (row: { cells: readonly string[] }) => Record<string, string> {
  const folded = columns.map(foldName)
  const places = boughtFieldNames(object).flatMap((field) => {
    const identifying = Object.entries(identityFields[object]).flatMap(([name, filled]) =>
      filled === field ? [found[name as IdentityField] ?? -1] : [],
    )
    // Another column of the same name as the one that identifies the record was not chosen.
    const chosen = new Set(identifying.map((index) => folded[index]))
    const named = [field, `${ourPrefix}${field}`]
      .map(foldName)
      .filter((name) => !chosen.has(name))
      .flatMap((name) => [...folded.keys()].filter((index) => folded[index] === name))
    const at = [...new Set([...named, ...identifying])].filter((index) => index >= 0)
    return at.length > 0 ? [{ field, at }] : []
  })
  return ({ cells }) => {
    const values: Record<string, string> = {}
    for (const { field, at } of places) {
      const value = at.map((index) => cellText(cells[index], nameFields[field])).find((text) => text !== '')
      if (value !== undefined) values[field] = value
    }
    return values
  }
}
