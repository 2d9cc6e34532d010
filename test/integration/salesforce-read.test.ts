import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSalesforceBench, scanAll, type SalesforceBench } from './salesforce.fixture.ts'

let bench: SalesforceBench

beforeEach(async () => {
  bench = await openSalesforceBench({ accounts: 40, contacts: 700, leads: 20 })
})

afterEach(() => bench.stop())

describe('reading records of Salesforce', () => {
  test('answers every id: present without blanks, gone, merged, converted, or no id at all', async () => {
    const [one = '', winner = '', loser = '', deleted = ''] = bench.ids('Contact', 4)
    const [lead = ''] = bench.ids('Lead', 1)
    bench.org.store.edit('Contact', one, { Title: 'Pilot', MailingCity: '', Profnet_URL__c: null })
    bench.org.store.merge('Contact', winner, loser)
    bench.org.store.delete('Contact', deleted)
    bench.org.store.convert(lead)
    const connector = bench.connect()
    const short = one.slice(0, 15)
    const never = '003Wx00000zzzzzAAA'
    const ids = [one, short, loser, deleted, never, "x' OR Id != '", lead]
    const found = await connector.read('Contact', ids)
    expect([...found.keys()]).toEqual(ids)
    expect(found.get(one)).toMatchObject({ state: 'present', values: { job_title: 'Pilot' } })
    expect(found.get(one)).not.toHaveProperty('values.city')
    expect(found.get(one)).not.toHaveProperty('values.profnet_url')
    expect(found.get(short)).toEqual(found.get(one))
    expect(found.get(loser)).toEqual({ state: 'merged', into: winner })
    for (const id of ids.slice(3)) expect(found.get(id)).toEqual({ state: 'gone' })
    expect(await connector.read('Lead', [lead])).toEqual(new Map([[lead, { state: 'converted' }]]))
  })

  test('tells the employer of a contact that nothing better identifies, with one query for all of them', async () => {
    const account = bench.org.store.add('Account', {
      fields: { Name: 'Norvik AS', Website: 'https://norvik.com' },
    })
    const add = (fields: Record<string, string>) =>
      bench.org.store.add('Contact', { fields: { LastName: 'Berg', AccountId: account.id, ...fields } }).id
    const [named, other, reached] = [add({ FirstName: 'Ida' }), add({}), add({ Email: 'ida@norvik.com' })]
    const found = await bench.connect().read('Contact', [named, other, reached])
    expect(found.get(named)).toMatchObject({
      identity: { firstName: 'Ida', lastName: 'Berg', company: 'Norvik AS', domain: 'https://norvik.com' },
    })
    expect(found.get(other)).toMatchObject({ identity: { company: 'Norvik AS' } })
    expect(found.get(reached)).toMatchObject({ identity: { email: 'ida@norvik.com' } })
    expect(bench.requests(/\/query$/)).toBe(1)
  })

  test('follows a chain of merges to the record that is there, and tells its losers in the scan', async () => {
    const [first = '', second = '', third = '', fourth = ''] = bench.ids('Contact', 4)
    const { store } = bench.org
    store.merge('Contact', second, first)
    store.merge('Contact', third, second)
    const connector = bench.connect()
    const found = await connector.read('Contact', [first, second, third])
    expect(found.get(first)).toEqual({ state: 'merged', into: third })
    expect(found.get(second)).toEqual({ state: 'merged', into: third })
    expect(found.get(third)).toMatchObject({ state: 'present' })
    const { pages, watermark } = await scanAll(connector, 'Contact')
    const merged = (of: typeof pages) =>
      of
        .flatMap(({ records }) => records)
        .flatMap(({ id, mergedIds }) => (mergedIds ? [[id, [...mergedIds].sort()]] : []))
    expect(merged(pages)).toEqual([[third, [first, second].sort()]])
    // The next increment reads later merges, with those before them.
    bench.clock.nowMs += 3_600_000
    store.merge('Contact', fourth, third)
    expect(merged((await scanAll(connector, 'Contact', { after: watermark })).pages)).toEqual([
      [fourth, expect.arrayContaining([third])],
    ])
    // Two for the chain, one a scan.
    expect(bench.requests(/\/queryAll$/)).toBe(4)
    store.delete('Contact', fourth)
    expect((await connector.read('Contact', [first])).get(first)).toEqual({ state: 'gone' })
  })

  test('reads what is left when a field goes away in mid run', async () => {
    const [id = ''] = bench.ids('Contact', 1)
    const connector = bench.connect()
    await connector.read('Contact', [id])
    bench.org.store.schema.Contact.fields.delete('title')
    expect((await connector.read('Contact', [id])).get(id)).toMatchObject({ state: 'present' })
  })

  test('reads 2,500 in two requests', async () => {
    bench.org.store.seed('Lead', { count: 2_480 })
    const found = await bench.connect().read('Lead', bench.ids('Lead', 2_500))
    expect([...found.values()].every(({ state }) => state === 'present')).toBe(true)
    expect(bench.requests(/POST .*composite\/sobjects\/Lead/)).toBe(2)
  })

  test('ties contacts to their account and back', async () => {
    const account = bench.org.store.add('Account', { fields: { Name: 'Norvik' } }).id
    const [a = '', b = ''] = ['A', 'B'].map(
      (LastName) => bench.org.store.add('Contact', { fields: { LastName, AccountId: account } }).id,
    )
    const lonely = bench.org.store.add('Contact', { fields: { LastName: 'C' } }).id
    const connector = bench.connect()
    expect(await connector.associations('Contact', 'Account', [a, lonely, 'nonsense'])).toEqual(
      new Map([
        [a, [{ id: account, primary: true }]],
        [lonely, []],
        ['nonsense', []],
      ]),
    )
    expect((await connector.associations('Account', 'Contact', [account])).get(account)).toEqual([
      { id: a, primary: true },
      { id: b, primary: true },
    ])
  })
})
