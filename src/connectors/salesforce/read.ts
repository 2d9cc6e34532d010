import { identityOf, type EntityMapping, type OwnFields } from '../../domain/mapping/mapping.ts'
import type { StampValue } from '../../domain/mapping/stamp.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { CurrentRecord, OwnValues } from '../connector.ts'
import { querySchema, retrieveSchema, type Row } from './api/answers.ts'
import type { SalesforceClient } from './api/client.ts'
import { longId } from './ids.ts'
import { withPlaceCodes } from './place-codes.ts'
import { flatten, identityFields, mappedFields, textOf, valuesOf } from './rows.ts'
import { withFields, type DescribedObject, type SchemaCache } from './api/schema-cache.ts'
import { select, soqlText } from './api/soql.ts'

export interface ReadDeps {
  client: SalesforceClient
  schema: SchemaCache
  own: OwnFields
  /** Called with the account of each contact that was read: writes are ordered by it. */
  onAccount: (contactId: string, accountId: string | undefined) => void
  /** Called with the country of each record that was read: it decides which states the record takes. */
  onCountry: (id: string, country: string | undefined) => void
  /** Called with the account of each contact that is a person: it is written there. */
  onPerson: (contactId: string, accountId: string | undefined) => void
}

const retrieveSize = 2_000
/** As many ids as fit the URL of one query. */
const querySize = 300

/** Returns the current state of records, by the id that was asked for. */
export function readRecords(
  deps: ReadDeps,
  sobject: string,
  mapping: EntityMapping,
  ids: readonly string[],
): Promise<Map<string, CurrentRecord>> {
  return withFields(deps.schema, sobject, (object) => readWith(deps, object, mapping, ids))
}

async function readWith(
  deps: ReadDeps,
  object: DescribedObject,
  given: EntityMapping,
  ids: readonly string[],
): Promise<Map<string, CurrentRecord>> {
  const sobject = object.name
  const mapping = withPlaceCodes(given, object)
  const asked = new Map<string, string>()
  for (const id of ids) {
    const long = longId(id, object.keyPrefix)
    if (long !== undefined) asked.set(id, long)
  }
  const unique = [...new Set(asked.values())]
  const rows = new Map<string, Row>()
  for (const part of chunk(unique, retrieveSize)) {
    const answered = await deps.client.call(retrieveSchema, {
      method: 'POST',
      path: `/composite/sobjects/${sobject}`,
      json: { ids: part, fields: fieldsToRead(mapping, deps.own, object) },
      isRepeatable: true,
    })
    for (const row of answered) if (row) rows.set(row.Id, row)
  }
  await joinAccounts(deps.client, mapping, object, rows)
  const missing = unique.filter((id) => !rows.has(id))
  const fates = await readFates(deps.client, sobject, missing)
  return new Map(
    ids.map((id) => {
      const long = asked.get(id)
      const row = long === undefined ? undefined : rows.get(long)
      if (row) {
        if (object.fields.has('AccountId')) {
          deps.onAccount(row.Id, textOf(row['AccountId']))
          deps.onPerson(row.Id, row['IsPersonAccount'] === true ? textOf(row['AccountId']) : undefined)
        }
        const current = present(row, mapping, deps.own, object)
        const country = current.state === 'present' ? current.values['country_code'] : undefined
        deps.onCountry(row.Id, typeof country === 'string' ? country : undefined)
        return [id, current]
      }
      return [id, (long === undefined ? undefined : fates.get(long)) ?? { state: 'gone' }]
    }),
  )
}

/**
 * Records retrieved by id lack the records they refer to. A contact's account is queried where nothing better
 * identifies the contact, and is put into its row as a query would return it.
 */
async function joinAccounts(
  client: SalesforceClient,
  mapping: EntityMapping,
  object: DescribedObject,
  rows: ReadonlyMap<string, Row>,
): Promise<void> {
  const names = identityFields(mapping, object).flatMap((name) => /^Account\.(.+)$/.exec(name)?.[1] ?? [])
  if (names.length === 0) return
  const byAccount = Map.groupBy(
    [...rows.values()].filter((row) => {
      // The account of a person is the person: it names no employer.
      if (row['IsPersonAccount'] === true) return false
      const { profileUrl, email, phone } = identityOf(mapping, flatten(row))
      return profileUrl === undefined && email === undefined && phone === undefined
    }),
    (row) => textOf(row['AccountId']),
  )
  const ids = [...byAccount.keys()].filter((id) => id !== undefined)
  for (const part of chunk(ids, querySize)) {
    const { records } = await client.call(querySchema, {
      path: '/query',
      query: {
        q: select({
          fields: ['Id', ...names],
          from: 'Account',
          where: [`Id IN (${part.map(soqlText).join(', ')})`],
        }),
      },
    })
    for (const account of records) for (const row of byAccount.get(account.Id) ?? []) row['Account'] = account
  }
}

/** More merges of one record than any org has made: a circle, which Salesforce should not name, ends. */
const mostMerges = 20

/**
 * Finds out what happened to missing records: the loser of a merge is in the recycle bin and names its master, which may
 * have lost a later merge itself. Follows the masters to the record that is there.
 */
export async function readFates(
  client: SalesforceClient,
  sobject: string,
  ids: readonly string[],
): Promise<Map<string, CurrentRecord>> {
  const seen = new Map<string, Trace>()
  let asked = ids
  for (let round = 0; asked.length > 0 && round <= mostMerges; round += 1) {
    for (const row of await readTraces(client, sobject, asked))
      seen.set(row.Id, { isDeleted: row['IsDeleted'] === true, master: textOf(row['MasterRecordId']) })
    const masters = asked.flatMap((id) => seen.get(id)?.master ?? [])
    asked = [...new Set(masters)].filter((id) => !seen.has(id))
  }
  return new Map([...seen.keys()].map((id) => [id, fateOf(id, seen)]))
}

interface Trace {
  isDeleted: boolean
  master: string | undefined
}

function fateOf(id: string, seen: ReadonlyMap<string, Trace>): CurrentRecord {
  let at = seen.get(id)?.master
  let into = at
  for (let round = 0; at !== undefined && round <= mostMerges; round += 1) {
    into = at
    const trace = seen.get(at)
    // A master that was deleted and not merged is gone, and with it what it had taken in.
    if (trace?.isDeleted && trace.master === undefined) return { state: 'gone' }
    at = trace?.master
  }
  return into === undefined ? { state: 'gone' } : { state: 'merged', into }
}

async function readTraces(client: SalesforceClient, sobject: string, ids: readonly string[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const part of chunk(ids, querySize)) {
    const { records } = await client.call(querySchema, {
      path: '/queryAll',
      query: {
        q: select({
          fields: ['Id', 'IsDeleted', 'MasterRecordId'],
          from: sobject,
          where: [`Id IN (${part.map(soqlText).join(', ')})`],
        }),
      },
    })
    rows.push(...records)
  }
  return rows
}

function fieldsToRead(mapping: EntityMapping, own: OwnFields, object: DescribedObject): string[] {
  const also = [
    'AccountId',
    'IsConverted',
    'IsPersonAccount',
    'PersonContactId',
    ...Object.values(own),
  ].filter((name) => object.fields.has(name))
  const identifying = identityFields(mapping, object).filter((name) => !name.includes('.'))
  return [...new Set(['Id', ...also, ...mappedFields(mapping, object), ...identifying])]
}

function present(row: Row, mapping: EntityMapping, own: OwnFields, object: DescribedObject): CurrentRecord {
  if (row['IsConverted'] === true) return { state: 'converted' }
  const personId = textOf(row['PersonContactId'])
  if (personId !== undefined && row['IsPersonAccount'] === true)
    return { state: 'person', entity: 'Contact', id: personId }
  const found = flatten(row)
  const raw: Record<string, FieldValue> = {}
  for (const [canonical, wanted] of Object.entries(mapping.fields)) {
    const stored = found[wanted.property]
    if (isValue(stored)) raw[canonical] = stored
  }
  const ownValues: OwnValues = Object.fromEntries(
    Object.entries(own).flatMap(([name, property]) =>
      isValue(found[property]) ? [[name, found[property]]] : [],
    ),
  )
  return {
    state: 'present',
    values: valuesOf(found, mapping, object),
    identity: identityOf(mapping, found),
    raw,
    own: ownValues,
  }
}

function isValue(stored: StampValue): stored is FieldValue {
  return stored !== null && stored !== undefined && stored !== ''
}

export function chunk<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  )
}
