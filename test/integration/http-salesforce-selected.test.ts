import { describe, expect, test } from 'vitest'
import { pressEnrichSelected } from '../../src/sandbox/salesforce/package/list-view.ts'
import { secrets } from '../support/http-house.ts'
import { house, salesforce, useContractHouse } from './http-contract.fixture.ts'

useContractHouse()

/** Accounts that nothing identifies: their tasks end without a lookup. */
const accounts = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => salesforce.store.add('Account', { fields: { Name: `Selected ${at}` } }).id,
  )
const press = (recordIds: readonly string[], secret = secrets.salesforce) =>
  pressEnrichSelected({ url: house.url, secret, object: 'Account', recordIds })

describe('"Enrich selected" in a list view of Salesforce', () => {
  test('makes a task of each selected record, in requests of 200, and none for a second press', async () => {
    const ids = accounts(205)
    expect(await press(ids)).toEqual([
      { status: 200, body: { requested: 200, repeated: 0 } },
      { status: 200, body: { requested: 5, repeated: 0 } },
    ])
    expect(await press(ids.slice(0, 10))).toEqual([{ status: 200, body: { requested: 10, repeated: 10 } }])
    const tasks = await house.context.database.db
      .selectFrom('tasks')
      .innerJoin('runs', 'runs.id', 'tasks.run_id')
      .select(['record_id', 'trigger'])
      .where('entity', '=', 'Account')
      .execute()
    expect(tasks).toHaveLength(205)
    expect(new Set(tasks.map((task) => task.record_id))).toEqual(new Set(ids))
    expect(new Set(tasks.map(({ trigger }) => trigger))).toEqual(new Set(['button']))
  })

  test('counts a record once, however its id is written', async () => {
    const [id = ''] = accounts(1)
    expect(await press([id, id.slice(0, 15)])).toEqual([{ status: 200, body: { requested: 1, repeated: 0 } }])
  })

  test('is signed like the action of a record, and stops at a refusal', async () => {
    expect(await press(accounts(201), 'another secret')).toMatchObject([
      { status: 401, body: { code: 'salesforce_wrong_signature' } },
    ])
  })

  test('names what is missing', async () => {
    expect(await press(['nonsense'])).toMatchObject([
      { status: 422, body: { errors: [{ pointer: '/recordIds/0' }] } },
    ])
  })
})
