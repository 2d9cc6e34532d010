import type { Association } from '../connector.ts'
import { querySchema, type Row } from './api/answers.ts'
import type { SalesforceClient } from './api/client.ts'
import { longId } from './ids.ts'
import { chunk } from './read.ts'
import { textOf } from './rows.ts'
import { select, soqlText } from './api/soql.ts'

const idsPerQuery = 300
const pageSize = 2_000

/**
 * Returns the account of each contact, or the contacts of each account, with an entry for every id. A lead has neither.
 */
export async function readAssociations(
  client: SalesforceClient,
  from: string,
  to: string,
  ids: readonly string[],
): Promise<Map<string, Association[]>> {
  const asked = new Map(ids.map((id) => [id, longId(id)]))
  const found = new Map<string, Association[]>()
  const known = [...new Set([...asked.values()].filter((id) => id !== undefined))]
  if (from === 'Contact' && to === 'Account') {
    for (const row of await contactsWhere(client, 'Id', known)) {
      const account = textOf(row['AccountId'])
      if (account !== undefined) found.set(row.Id, [{ id: account, primary: true }])
    }
  } else if (from === 'Account' && to === 'Contact') {
    for (const row of await contactsWhere(client, 'AccountId', known)) {
      const account = String(row['AccountId'])
      found.set(account, [...(found.get(account) ?? []), { id: row.Id, primary: true }])
    }
  }
  return new Map(ids.map((id) => [id, found.get(asked.get(id) ?? '') ?? []]))
}

async function contactsWhere(
  client: SalesforceClient,
  field: 'Id' | 'AccountId',
  ids: readonly string[],
): Promise<Row[]> {
  const rows: Row[] = []
  for (const part of chunk(ids, idsPerQuery)) {
    for (let after: string | undefined; ;) {
      const { done, records } = await client.call(querySchema, {
        path: '/query',
        query: {
          q: select({
            fields: ['Id', 'AccountId'],
            from: 'Contact',
            where: [
              `${field} IN (${part.map(soqlText).join(', ')})`,
              ...(after === undefined ? [] : [`Id > ${soqlText(after)}`]),
            ],
            orderBy: ['Id'],
            limit: pageSize,
          }),
        },
      })
      rows.push(...records)
      after = records.at(-1)?.Id
      if (after === undefined || (done && records.length < pageSize)) break
    }
  }
  return rows
}
