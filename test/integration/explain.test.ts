import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { historyOf } from '../../src/app/records/history.ts'
import { settingsSections } from '../../src/app/web/desk-settings.ts'
import { timelineOf } from '../../src/app/web/record-timeline.ts'
import { explain } from '../../src/app/records/explain.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox, {
    config: { payment: { maxPricesUsd: { 'contact.redeem:phone': '0.30' } } },
  })
})
afterAll(async () => {
  await house.close()
  await sandbox.stop()
})

const explained = (object: string, id: string) =>
  explain(house.context, house.connector, { connector: 'hubspot', object, id }, undefined)

describe('the explanation of one record', () => {
  test('says what the record has cost, also when the next run would use the answers for nothing', async () => {
    const id = house.add('companies', {
      name: 'Paid for',
      profnet_url: 'https://www.profnet.com/company/explained-and-paid',
    })
    house.add('companies', { name: 'Other', profnet_url: 'https://www.profnet.com/company/explained-other' })
    await house.sync('companies')
    const { spend, spentAtomic, lines } = await explained('company', id)
    expect(spend).toEqual({ settledAtomic: 10_000n, inDoubtAtomic: 0n, lostAtomic: 0n, creditsAtomic: 0n })
    expect(spentAtomic).toBe(10_000n)
    expect(lines).toContain('Spent on this record so far: 0.010000 USD.')
    // The desk's page of the record says the same.
    const timeline = await timelineOf(house.context, { connector: 'hubspot', object: 'company', id })
    expect(timeline.spend).toEqual(spend)
  })

  test('reads that record, and does not list the account', async () => {
    const ids = Array.from({ length: 250 }, (_, index) =>
      house.add('companies', {
        name: `Explained ${index}`,
        profnet_url: `https://www.profnet.com/company/explained-${index}`,
      }),
    )
    const before = house.hubspot.stats().byPath
    const { step } = await explained('company', ids[249]!)
    expect(step.kind).toBe('lookup')
    const after = house.hubspot.stats().byPath
    const calls = Object.entries(after).flatMap(([path, count]) =>
      count > (before[path] ?? 0) ? [[path, count - (before[path] ?? 0)]] : [],
    )
    expect(calls).toContainEqual(['POST /crm/objects/2026-09/companies/batch/read', 1])
    // One request for one record, whatever the account holds.
    expect(calls.filter(([path]) => String(path).includes('/objects/'))).toEqual([
      ['POST /crm/objects/2026-09/companies/batch/read', 1],
    ])
  })

  test('finds a contact by the singular and the plural of its object, and so does its history', async () => {
    const id = house.add('contacts', {
      firstname: 'Ada',
      lastname: 'Explained',
      email: 'ada@explained.example',
    })
    for (const object of ['contact', 'contacts', 'Contact', 'person', 'people']) {
      expect((await explained(object, id)).isSuppressed).toBe(false)
      expect(await historyOf(house.context, { connector: 'hubspot', object, id })).toMatchObject({
        object,
        id,
        tasks: [],
      })
    }
    await expect(explained('deal', id)).rejects.toThrow('hubspot has no deal; it has companies, contacts')
  })

  test('names a record that there is not, and one that was merged away', async () => {
    await expect(explained('company', '77')).rejects.toThrow('hubspot has no company 77')
    const [winner, loser] = ['Keeps', 'Goes'].map((name) => house.add('companies', { name }))
    house.hubspot.store.merge('companies', winner!, loser!)
    await expect(explained('companies', loser!)).rejects.toThrow(
      new RegExp(`no companies ${loser} any more: the record was merged into \\d+`),
    )
  })
})

test('the settings of the desk name price and cap of each step, also where a cap is its own', async () => {
  const priced = (await settingsSections(house.context)).find(({ title }) => title === 'Prices')
  expect(priced?.rows).toContainEqual(['person profile', '$0.01', '$0.01', 'allowed'])
  expect(priced?.rows).toContainEqual(['contact redeem: phone', '$0.30', '$0.30', 'allowed'])
  expect(priced?.rows).toContainEqual(['contact redeem: email work', '$0.15', '$0.01', 'not bought'])
})
