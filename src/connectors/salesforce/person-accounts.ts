import type { CrmMapping, EntityMapping, FieldMapping } from '../../domain/mapping/mapping.ts'
import type { EntityRecord, RecordPatch, WriteResult } from '../connector.ts'
import { querySchema } from './api/answers.ts'
import type { SalesforceClient } from './api/client.ts'
import type { DescribedObject } from './api/schema-cache.ts'
import { select, soqlText } from './api/soql.ts'
import { longId } from './ids.ts'
import { chunk } from './read.ts'
import { textOf } from './rows.ts'

/**
 * A person account is an account and a contact in one: a person. It is scanned and read as the contact. Salesforce takes
 * no write to that contact: its fields are written on the account, under other names.
 */

/** Fields that account and contact of a person share under one name. */
const shared: ReadonlySet<string> = new Set(['FirstName', 'LastName', 'Salutation', 'Phone'])
/** As many ids as fit the URL of one query. */
const querySize = 300

/** Returns the mapping of contacts with the names that their fields have on the account of a person. */
export function personMapping({ own, entities }: CrmMapping, account: DescribedObject): CrmMapping {
  const contact = entities['Contact'] as EntityMapping
  const rename = (property: string): string => personProperty(property, account)
  const fields: Record<string, FieldMapping> = Object.fromEntries(
    Object.entries(contact.fields).map(([name, wanted]) => [
      name,
      { ...wanted, property: rename(wanted.property) },
    ]),
  )
  return {
    own: { status: rename(own.status), enrichedAt: rename(own.enrichedAt), source: rename(own.source) },
    entities: { Account: { ...contact, fields } },
  }
}

/** Returns the name that a property of a person's account has on the contact. */
export function contactProperty(property: string): string {
  if (property.endsWith('__pc')) return property.replace(/__pc$/, '__c')
  return shared.has(property) ? property : property.replace(/^Person/, '')
}

/** A name that the account does not have stays out of a write, with its reason. */
function personProperty(property: string, account: DescribedObject): string {
  if (property.endsWith('__c')) return property.replace(/__c$/, '__pc')
  const own = `Person${property}`
  return shared.has(property) && !account.fields.has(own) ? property : own
}

/** Returns the contact of each of these accounts that is a person, by the id asked for. */
export async function findPeople(
  client: SalesforceClient,
  account: DescribedObject,
  ids: readonly string[],
): Promise<Map<string, EntityRecord>> {
  const people = new Map<string, EntityRecord>()
  if (!account.fields.has('IsPersonAccount')) return people
  const asked = ids.flatMap((id) => {
    const long = longId(id, account.keyPrefix)
    return long === undefined ? [] : [{ id, long }]
  })
  for (const part of chunk(asked, querySize)) {
    const { records } = await client.call(querySchema, {
      path: '/query',
      query: {
        q: select({
          fields: ['Id', 'PersonContactId'],
          from: 'Account',
          where: [
            'IsPersonAccount = true',
            `Id IN (${[...new Set(part.map(({ long }) => soqlText(long)))].join(', ')})`,
          ],
        }),
      },
    })
    const contacts = new Map(records.map((row) => [row.Id, textOf(row['PersonContactId'])]))
    for (const { id, long } of part) {
      const contact = contacts.get(long)
      if (contact !== undefined) people.set(id, { entity: 'Contact', id: contact })
    }
  }
  return people
}

/** Writes the patches of people by `toAccounts` and the others by `toContacts`. Returns the results in the order of the patches. */
export async function writeContacts(
  patches: readonly RecordPatch[],
  accountOfPerson: (contactId: string) => string | undefined,
  toContacts: (patches: readonly RecordPatch[]) => Promise<WriteResult[]>,
  toAccounts: (patches: readonly RecordPatch[]) => Promise<WriteResult[]>,
): Promise<WriteResult[]> {
  const accounts = patches.map(({ id }) => accountOfPerson(id))
  if (accounts.every((account) => account === undefined)) return toContacts(patches)
  const people = patches.flatMap((patch, index) => {
    const account = accounts[index]
    return account === undefined ? [] : [{ ...patch, id: account }]
  })
  const others = patches.filter((_, index) => accounts[index] === undefined)
  const written = await toAccounts(people)
  // The results of records already written are kept when the others fail.
  const contacts =
    others.length > 0 ? await toContacts(others).catch((error: unknown) => retryAll(others, error)) : []
  return patches.map(({ id }, index) => {
    const result = (accounts[index] === undefined ? contacts : written).shift() as WriteResult
    return { ...result, id }
  })
}

function retryAll(patches: readonly RecordPatch[], error: unknown): WriteResult[] {
  const reason = error instanceof Error ? error.message : 'the CRM stopped taking writes'
  return patches.map(({ id }) => ({ id, status: 'retry', afterMs: 2_000, reason }))
}
