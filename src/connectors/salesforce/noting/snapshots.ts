import { createHash } from 'node:crypto'
import { wordsOf } from '../../../domain/notes/text.ts'
import type { NoteSnapshot, WrittenNote } from '../../noting.ts'
import type { Row } from '../api/answers.ts'
import type { SalesforceClient } from '../api/client.ts'
import { select, soqlText } from '../api/soql.ts'
import { inConditions, runQueries } from '../making/queries.ts'
import { textOf } from '../rows.ts'
import { objectOf, type NoteObject } from './kinds.ts'

const fieldsOf: Readonly<Record<NoteObject, readonly string[]>> = {
  Note: ['Id', 'Title', 'Body', 'OwnerId', 'ParentId'],
  Task: ['Id', 'Subject', 'Description', 'Status', 'OwnerId', 'ActivityDate', 'WhatId', 'WhoId'],
}

/** Returns what a person can change of each note and task that is there, by its id. */
export async function snapshots(
  client: SalesforceClient,
  written: readonly WrittenNote[],
): Promise<Map<string, NoteSnapshot>> {
  const found = new Map<string, NoteSnapshot>()
  for (const [kind, group] of Map.groupBy(written, (each) => each.kind)) {
    const object = objectOf[kind]
    const ids = [...new Set(group.map(({ id }) => id))]
    const queries = inConditions('Id', ids.map(soqlText)).map((condition) => ({
      q: select({ fields: fieldsOf[object], from: object, where: [condition] }),
    }))
    for (const row of (await runQueries(client, queries)).flat()) found.set(row.Id, snapshotOf(row))
  }
  return found
}

function snapshotOf(row: Row): NoteSnapshot {
  const text = (name: string): string => wordsOf(textOf(row[name]) ?? '')
  const digested = JSON.stringify([text('Title') || text('Subject'), text('Body') || text('Description')])
  return {
    text: createHash('sha256').update(digested).digest('hex').slice(0, 32),
    owner: textOf(row['OwnerId']) ?? null,
    status: textOf(row['Status']) ?? null,
    due: textOf(row['ActivityDate']) ?? null,
    ties: ['ParentId', 'WhatId', 'WhoId']
      .flatMap((name) => {
        const id = textOf(row[name])
        return id === undefined ? [] : [`${name}:${id}`]
      })
      .toSorted(),
  }
}
