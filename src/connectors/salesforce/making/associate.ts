import { retrieveSchema, type Row } from '../api/answers.ts'
import { collectionSize, updateCollection, type Update } from '../api/collections.ts'
import { longId } from '../ids.ts'
import type { EntityMapping } from '../../../domain/mapping/mapping.ts'
import { chunk } from '../read.ts'
import { textOf } from '../rows.ts'
import { readSaveError } from '../save-error.ts'
import type { MakerDeps } from './deps.ts'

const retrieveSize = 2_000

/**
 * Ties contacts to accounts by their `AccountId`, where that is blank. A contact of another account stays with it, and one that is
 * a person account has none. Leads have no account.
 */
export async function associateRecords(
  { client, schema, mapping, inTurn }: MakerDeps,
  entity: string,
  toEntity: string,
  pairs: readonly { from: string; to: string }[],
): Promise<Map<number, string>> {
  const refused = new Map<number, string>()
  if (entity !== 'Contact' || toEntity !== 'Account') {
    pairs.forEach((_, index) => refused.set(index, `Salesforce does not tie ${entity} to ${toEntity}`))
    return refused
  }
  const object = await schema.describe(entity)
  const contacts = pairs.map(({ from }) => longId(from, object.keyPrefix))
  const rows = new Map<string, Row>()
  const fields = ['Id', 'AccountId', 'IsPersonAccount'].filter((name) => object.fields.has(name))
  const known = [...new Set(contacts.filter((id) => id !== undefined))]
  for (const part of chunk(known, retrieveSize)) {
    const found = await client.call(retrieveSchema, {
      method: 'POST',
      path: `/composite/sobjects/${entity}`,
      json: { ids: part, fields },
      isRepeatable: true,
    })
    for (const row of found) if (row) rows.set(row.Id, row)
  }
  const updates: Update[] = []
  const chosen = new Map<string, string>()
  pairs.forEach(({ to }, index) => {
    const id = contacts[index]
    const row = id === undefined ? undefined : rows.get(id)
    const account = longId(to, '001')
    if (id === undefined || !row) refused.set(index, 'the contact is gone')
    else if (account === undefined) refused.set(index, 'it is not the id of an account')
    else if (row['IsPersonAccount'] === true) refused.set(index, 'the contact is a person account')
    else {
      const there = textOf(row['AccountId']) ?? chosen.get(id)
      if (there === undefined) {
        chosen.set(id, account)
        updates.push({ index, id, body: { AccountId: account } })
      } else if (there !== account) refused.set(index, 'the contact belongs to another account')
    }
  })
  for (const part of chunk(updates, collectionSize)) {
    const outcomes = await inTurn(() => updateCollection(client, entity, part, {}))
    part.forEach(({ index, id }, at) => {
      const outcome = outcomes[at]
      if (outcome?.kind === 'failed') {
        const refusal = readSaveError(id, outcome.error, mapping.entities[entity] as EntityMapping)
        refused.set(index, refusal.reason)
      } else if (outcome?.kind !== 'done') refused.set(index, 'Salesforce returned no result for the record')
    })
  }
  return refused
}
