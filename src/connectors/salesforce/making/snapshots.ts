import type { RecordSnapshot } from '../../creating.ts'
import { retrieveSchema, type Row } from '../api/answers.ts'
import { withFields, type DescribedObject } from '../api/schema-cache.ts'
import { select, soqlText } from '../api/soql.ts'
import { longId } from '../ids.ts'
import { chunk } from '../read.ts'
import type { MakerDeps } from './deps.ts'
import { runQueries } from './queries.ts'

const retrieveSize = 2_000
/** Records of one query for what is tied: with their children the answer stays a page. */
const idsPerQuery = 400
/** As many subqueries as one query may have ("Relationship Query Limitations" of the SOQL reference: 20). */
const mostChildren = 20

/**
 * The relationships that count as a tie, with the word for each. What Salesforce makes by itself (histories, feeds, shares) is not
 * among them.
 */
const ties: Readonly<Record<string, string>> = {
  Contacts: 'contacts',
  ChildAccounts: 'accounts',
  Opportunities: 'deals',
  OpportunityContactRoles: 'deals',
  Contracts: 'contracts',
  Orders: 'orders',
  Cases: 'cases',
  Tasks: 'tasks',
  Events: 'events',
  Notes: 'notes',
  Attachments: 'files',
  ContentDocumentLinks: 'files',
  CampaignMembers: 'campaigns',
}

/**
 * Returns every field that can be changed, with the owner, and the number of records tied to each: two calls for up to 2,000
 * records. Records of the org's own objects count too. What the user may not see cannot be counted.
 */
export function snapshotsOf(
  { client, schema }: MakerDeps,
  entity: string,
  ids: readonly string[],
): Promise<Map<string, RecordSnapshot>> {
  return withFields(schema, entity, async (object) => {
    const asked = new Map(ids.map((id) => [id, longId(id, object.keyPrefix)]))
    const known = [...new Set([...asked.values()].filter((id) => id !== undefined))]
    const names = [...object.fields.values()].filter(({ writable }) => writable).map(({ name }) => name)
    const rows = new Map<string, Row>()
    for (const part of chunk(known, retrieveSize)) {
      const found = await client.call(retrieveSchema, {
        method: 'POST',
        path: `/composite/sobjects/${entity}`,
        json: { ids: part, fields: ['Id', ...names] },
        isRepeatable: true,
      })
      for (const row of found) if (row) rows.set(row.Id, row)
    }
    const relationships = tiesOf(object)
    const queries = relationships.length === 0 ? [] : chunk([...rows.keys()], idsPerQuery)
    const tied = new Map<string, Record<string, number>>()
    const answers = await runQueries(
      client,
      queries.map((part) => ({ q: tiesQuery(object, relationships, part) })),
    )
    for (const row of answers.flat()) tied.set(row.Id, countTies(row, relationships))
    return new Map(
      [...asked].flatMap(([id, long]) => {
        const row = long === undefined ? undefined : rows.get(long)
        if (!row) return []
        const properties = Object.fromEntries(
          names.flatMap((name) => {
            const value = row[name]
            return value === null || value === undefined || value === '' ? [] : [[name, asText(value)]]
          }),
        )
        return [[id, { properties, tied: tied.get(row.Id) ?? {} }]]
      }),
    )
  })
}

function tiesOf({ children }: DescribedObject): string[] {
  const standard = Object.keys(ties).filter((name) => children.has(name))
  const custom = [...children].filter(([name, of]) => of.endsWith('__c') && name.endsWith('__r'))
  return [...standard, ...custom.map(([name]) => name)].slice(0, mostChildren)
}

function tiesQuery(
  { name }: DescribedObject,
  relationships: readonly string[],
  ids: readonly string[],
): string {
  const query = select({ fields: ['Id'], from: name, where: [`Id IN (${ids.map(soqlText).join(', ')})`] })
  return query.replace(
    'SELECT Id',
    `SELECT Id, ${relationships.map((each) => `(SELECT Id FROM ${each})`).join(', ')}`,
  )
}

function countTies(row: Row, relationships: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of relationships) {
    const found = row[name] as { totalSize?: number } | null | undefined
    const count = found?.totalSize ?? 0
    const word = ties[name] ?? name
    if (count > 0) counts[word] = (counts[word] ?? 0) + count
  }
  return counts
}

function asText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean)
}
