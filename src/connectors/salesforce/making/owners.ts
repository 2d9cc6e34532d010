import type { Owner } from '../../creating.ts'
import { retrieveSchema } from '../api/answers.ts'
import { select, soqlText } from '../api/soql.ts'
import { longId } from '../ids.ts'
import { chunk } from '../read.ts'
import { textOf } from '../rows.ts'
import type { MakerDeps } from './deps.ts'
import { runQueries } from './queries.ts'

const retrieveSize = 2_000
const userPrefix = '005'
const queuePrefix = '00G'

/** Returns those of these owners that the org has: users, and queues where leads can belong to them. */
export async function readOwners(
  { client }: Pick<MakerDeps, 'client'>,
  entity: string,
  ids: readonly string[],
): Promise<Map<string, Owner>> {
  const long = new Map(ids.map((id) => [id, longId(id)]))
  const known = [...new Set(long.values())].filter((id) => id !== undefined)
  const users = known.filter((id) => id.startsWith(userPrefix))
  const queues = entity === 'Lead' ? known.filter((id) => id.startsWith(queuePrefix)) : []
  const queries = [
    ...(users.length === 0
      ? []
      : [{ q: select({ fields: ['Id', 'Name', 'IsActive'], from: 'User', where: [oneOf('Id', users)] }) }]),
    ...(queues.length === 0
      ? []
      : [
          {
            q: select({
              fields: ['Id', 'Name'],
              from: 'Group',
              where: [oneOf('Id', queues), "Type = 'Queue'"],
            }),
          },
        ]),
  ]
  const rows = new Map((await runQueries(client, queries)).flat().map((row) => [row.Id, row]))
  return new Map(
    [...long].flatMap(([id, key]): [string, Owner][] => {
      const row = key === undefined ? undefined : rows.get(key)
      if (!row) return []
      return [[id, { id, name: textOf(row['Name']) ?? id, isActive: row['IsActive'] !== false }]]
    }),
  )
}

/** Returns the owner of each of these records, where it is there. */
export async function ownersOf(
  { client, schema }: Pick<MakerDeps, 'client' | 'schema'>,
  entity: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { keyPrefix } = await schema.describe(entity)
  const asked = new Map(ids.map((id) => [id, longId(id, keyPrefix)]))
  const owners = new Map<string, string>()
  const known = [...new Set([...asked.values()].filter((id) => id !== undefined))]
  for (const part of chunk(known, retrieveSize)) {
    const found = await client.call(retrieveSchema, {
      method: 'POST',
      path: `/composite/sobjects/${entity}`,
      json: { ids: part, fields: ['Id', 'OwnerId'] },
      isRepeatable: true,
    })
    for (const row of found) {
      const owner = row ? textOf(row['OwnerId']) : undefined
      if (row && owner !== undefined) owners.set(row.Id, owner)
    }
  }
  return new Map(
    [...asked].flatMap(([id, key]): [string, string][] => {
      const owner = key === undefined ? undefined : owners.get(key)
      return owner === undefined ? [] : [[id, owner]]
    }),
  )
}

function oneOf(field: string, values: readonly string[]): string {
  return `${field} IN (${values.map(soqlText).join(', ')})`
}
