import type { SalesforceClient } from '../api/client.ts'
import type { DescribedObject } from '../api/schema-cache.ts'
import { select, soqlText } from '../api/soql.ts'
import { readFates } from '../read.ts'
import { textOf } from '../rows.ts'
import { inConditions, runQueries } from './queries.ts'

/**
 * Returns the records that have these keys, by the key in lower case. A record that was merged since is found by the one that is
 * left; one that was only deleted is not there.
 */
export async function findByKey(
  client: SalesforceClient,
  object: DescribedObject,
  keyField: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  if (keys.length === 0) return found
  const conditions = inConditions(keyField, [...new Set(keys)].map(soqlText))
  const fields = ['Id', 'IsDeleted', keyField].filter((name) => object.fields.has(name))
  const queries = conditions.map((condition) => ({
    q: select({ fields, from: object.name, where: [condition] }),
    withDeleted: true,
  }))
  const deleted = new Map<string, string>()
  for (const row of (await runQueries(client, queries)).flat()) {
    const key = textOf(row[keyField])?.toLowerCase()
    if (key === undefined) continue
    if (row['IsDeleted'] === true) deleted.set(row.Id, key)
    else found.set(key, row.Id)
  }
  const lost = [...deleted].filter(([, key]) => !found.has(key)).map(([id]) => id)
  if (lost.length === 0 || !object.fields.has('MasterRecordId')) return found
  for (const [id, fate] of await readFates(client, object.name, lost)) {
    const key = deleted.get(id)
    if (key !== undefined && fate.state === 'merged') found.set(key, fate.into)
  }
  return found
}
