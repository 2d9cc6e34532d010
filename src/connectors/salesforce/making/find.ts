import type { EntityMapping } from '../../../domain/mapping/mapping.ts'
import type { SourceRecord } from '../../../domain/record.ts'
import type { RecordIdentity, RecordIdentityKind } from '../../../domain/subjects/record-identities.ts'
import type { Row } from '../api/answers.ts'
import { withFields, type DescribedObject } from '../api/schema-cache.ts'
import { select, soqlText } from '../api/soql.ts'
import { withPlaceCodes } from '../place-codes.ts'
import { enrichable, fieldsToRead, toRecord } from '../scan.ts'
import type { MakerDeps } from './deps.ts'
import { inConditions, runQueries } from './queries.ts'
import { phoneSpellings, profileSpellings, websiteSpellings } from './spellings.ts'

/**
 * Returns the records that have one of these identities, in one call for a hundred rows. Converted leads and person accounts are
 * left out, as in a scan. A name is found as it is folded: without legal form and marks.
 */
export function findRecords(
  deps: MakerDeps,
  entity: string,
  given: EntityMapping,
  identities: readonly RecordIdentity[],
): Promise<SourceRecord[]> {
  return withFields(deps.schema, entity, async (object) => {
    const mapping = withPlaceCodes(given, object)
    const conditions = conditionsFor(deps, mapping, object, identities)
    const fields = fieldsToRead(given, object, deps.mapping.own)
    const queries = conditions.map((condition) => ({
      q: select({ fields, from: object.name, where: [condition, ...enrichable(object)] }),
    }))
    const rows = new Map<string, Row>()
    for (const found of await runQueries(deps.client, queries)) for (const row of found) rows.set(row.Id, row)
    return [...rows.values()].map((row) => toRecord(row, mapping, object))
  })
}

function conditionsFor(
  { networkHosts }: MakerDeps,
  mapping: EntityMapping,
  object: DescribedObject,
  identities: readonly RecordIdentity[],
): string[] {
  const valuesOf = (kind: RecordIdentityKind): string[] => [
    ...new Set(identities.filter((identity) => identity.kind === kind).map(({ value }) => value)),
  ]
  const searched: { values: string[]; properties: string[] }[] = [
    {
      values: valuesOf('profile').flatMap((profile) => profileSpellings(profile, networkHosts)),
      properties: propertiesFor(mapping, object, 'profileUrl', ['profnet_url']),
    },
    {
      values: valuesOf('email'),
      properties: propertiesFor(mapping, object, 'email', ['email', 'email_personal']),
    },
    {
      // A person's website is that of the employer, which colleagues share.
      values: mapping.object === 'company' ? valuesOf('domain').flatMap(websiteSpellings) : [],
      properties: propertiesFor(mapping, object, 'domain', ['domain', 'website']),
    },
    {
      values: valuesOf('phone').flatMap(phoneSpellings),
      properties: propertiesFor(mapping, object, 'phone', ['phone', 'mobile_phone']),
    },
    { values: valuesOf('name'), properties: object.fields.get('Name')?.filterable ? ['Name'] : [] },
  ]
  return searched.flatMap(({ values, properties }) => {
    const literals = [...new Set(values)].map(soqlText)
    return properties.flatMap((property) => inConditions(property, literals))
  })
}

/** The fields of the org that hold values of one kind and can be filtered by. Those of a parent are not the record's. */
function propertiesFor(
  mapping: EntityMapping,
  object: DescribedObject,
  identity: 'profileUrl' | 'email' | 'domain' | 'phone',
  canonical: readonly string[],
): string[] {
  const names = [
    ...(mapping.identity[identity] ?? []),
    ...canonical.flatMap((name) => mapping.fields[name]?.property ?? mapping.create?.[name]?.property ?? []),
  ]
  return [...new Set(names)].filter(
    (name) => !name.includes('.') && object.fields.get(name)?.filterable === true,
  )
}
