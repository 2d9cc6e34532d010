import { querySchema } from './api/answers.ts'
import type { SalesforceClient } from './api/client.ts'
import type { DescribedObject } from './api/schema-cache.ts'
import { select, soqlText, soqlTime } from './api/soql.ts'
import { textOf } from './rows.ts'

const pageSize = 2_000
/** A few requests even after a clean-up of the whole org: the rest is found when the records are read. */
const mostPages = 10

/**
 * Returns, by the record that won, the records that were merged into it since a time, through any number of merges. One
 * query a scan: the losers are in the recycle bin, for some two weeks.
 */
export async function readMerges(
  client: SalesforceClient,
  object: DescribedObject,
  sinceMs: number | undefined,
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (!object.fields.has('MasterRecordId')) return new Map()
  const losers = new Map<string, string[]>()
  let after: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const { records } = await client.call(querySchema, {
      path: '/queryAll',
      query: {
        q: select({
          fields: ['Id', 'MasterRecordId'],
          from: object.name,
          where: [
            'IsDeleted = true',
            'MasterRecordId != null',
            ...(sinceMs === undefined ? [] : [`SystemModstamp >= ${soqlTime(sinceMs)}`]),
            ...(after === undefined ? [] : [`Id > ${soqlText(after)}`]),
          ],
          orderBy: ['Id'],
          limit: pageSize,
        }),
      },
    })
    for (const row of records) {
      const master = textOf(row['MasterRecordId'])
      if (master !== undefined) losers.set(master, [...(losers.get(master) ?? []), row.Id])
    }
    after = records.at(-1)?.Id
    if (records.length < pageSize) break
  }
  return new Map([...losers.keys()].map((master) => [master, allLosers(master, losers)]))
}

function allLosers(master: string, losers: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>()
  const open = [...(losers.get(master) ?? [])]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id) || id === master) continue
    found.add(id)
    open.push(...(losers.get(id) ?? []))
  }
  return [...found]
}
