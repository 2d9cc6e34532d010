import { beforeEach } from 'vitest'
import type { Identity } from '../../src/domain/record.ts'
import { addTask, desk } from '../integration/desk-rows.fixture.ts'

/** The ids of the tasks of a test, by the name of their record. */
export const ids: Record<string, bigint> = {}

/** Empties the list of records before each test of the calling file. */
export function useRecords(): void {
  beforeEach(() => {
    for (const name of Object.keys(ids)) delete ids[name]
  })
}

/** Adds a task of a record with this identity. */
export async function record(
  name: string,
  identity: Identity,
  more: Parameters<typeof addTask>[2] & { run?: string; status?: Parameters<typeof addTask>[1] } = {},
): Promise<void> {
  const id = await addTask(more.run ?? 'r1', more.status ?? 'written', { record: name, ...more })
  await desk.db
    .updateTable('tasks')
    .set({ identity: JSON.stringify(identity) })
    .where('id', '=', id)
    .execute()
  ids[name] = id
}
