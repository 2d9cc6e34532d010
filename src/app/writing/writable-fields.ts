import type { Connector } from '../../connectors/connector.ts'

export interface WritableFields {
  writable: ReadonlySet<string>
  /** The fields that the account has no place for, in words for a person; undefined where it has one for all. */
  notice: string | undefined
}

/**
 * Makes the properties of these fields where the CRM lets us, and returns those of them that the account has a place for. The others
 * are left out before a record is written: one that lacked all of them would be refused every time.
 */
export async function writableFields(
  connector: Connector,
  entity: string,
  fields: readonly string[],
): Promise<WritableFields> {
  const ensured = await connector.ensureFields(entity, { dryRun: false, fields })
  const described = new Map((await connector.describe(entity)).map((field) => [field.name, field]))
  const mapping = connector.mapping?.entities[entity]
  const why = new Map<string, string>()
  for (const field of fields) {
    const property = mapping?.fields[field]?.property
    // A field that the mapping leaves out was left out on purpose.
    if (property === undefined) why.set(field, '')
    else {
      const state = ensured.find(({ name }) => name === property)
      if (state?.status === 'missing' || state?.status === 'conflict')
        why.set(field, `${property} (${state.reason ?? state.status})`)
      else if (described.get(property)?.writable !== true)
        why.set(field, `${property} (it cannot be written)`)
    }
  }
  const told = [...why.values()].filter((reason) => reason !== '')
  return {
    writable: new Set(fields.filter((field) => !why.has(field))),
    notice:
      told.length > 0
        ? `${entity}: fields that cannot be written are left out: ${told.join('; ')}`
        : undefined,
  }
}
