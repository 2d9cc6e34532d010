import { describe, expect, test } from 'vitest'
import { recordIdentities } from '../../src/domain/subjects/record-identities.ts'
import { bench, counted, draft, make, maker, useMaker } from './salesforce-making.fixture.ts'

useMaker()

describe('records are found in Salesforce', () => {
  test('by every kind, under the spellings of people, as a scan reads them', async () => {
    const [a = '', b = '', c = '', d = ''] = bench.ids('Contact', 4)
    const store = bench.org.store
    store.edit('Contact', a, { Email: 'Ada@Engines.com' })
    store.edit('Contact', b, { Profnet_URL__c: 'http://profnet.com/in/ada-byron/' })
    store.edit('Contact', c, { MobilePhone: '(415) 555-2671' })
    store.edit('Contact', d, { Paydirt_Personal_Email__c: 'ada@home.com' })
    const found = await maker.find('Contact', [
      { kind: 'email', value: 'ada@engines.com' },
      { kind: 'email', value: 'ada@home.com' },
      { kind: 'profile', value: 'in/ada-byron' },
      { kind: 'phone', value: '+14155552671' },
      { kind: 'name', value: 'nobody at all' },
    ])
    expect(found.map(({ id }) => id).sort()).toEqual([a, b, c, d].sort())
    for await (const page of bench.connect().scan('Contact', {}))
      for (const record of page.records) {
        const same = found.find(({ id }) => id === record.id)
        if (same) expect(same).toEqual(record)
      }
  })

  test.each(['norvik.com', 'www.norvik.com', 'https://Norvik.com/', 'http://www.norvik.com'])(
    'by a website that is written %s',
    async (written) => {
      const [id = ''] = bench.ids('Account', 1)
      bench.org.store.edit('Account', id, { Website: written })
      const identities = recordIdentities({ object: 'company', identity: { domain: 'norvik.com' } })
      expect((await maker.find('Account', identities)).map((record) => record.id)).toEqual([id])
    },
  )

  test('a hundred rows in at most five calls, whatever they are found by', async () => {
    await maker.find('Contact', [{ kind: 'email', value: 'warm@up.com' }])
    const identities = Array.from({ length: 100 }, (_, at) =>
      recordIdentities({
        object: 'person',
        identity: {
          profileUrl: `https://www.profnet.com/in/a-rather-long-name-of-a-person-${at}`,
          email: `a.rather.long.name.${at}@company-with-a-long-name.com`,
          phone: `+4930901820${String(at).padStart(2, '0')}`,
        },
      }),
    ).flat()
    const { calls: sent } = await counted(() => maker.find('Contact', identities))
    expect(sent).toBeLessThanOrEqual(5)
  })

  test('neither deleted nor converted, and never by text that ends the query', async () => {
    const [a = '', b = ''] = bench.ids('Lead', 2)
    for (const id of [a, b]) bench.org.store.edit('Lead', id, { Email: "o'brien\\@engines.com" })
    const identity = { kind: 'email', value: "o'brien\\@engines.com" } as const
    expect((await maker.find('Lead', [identity])).map(({ id }) => id).sort()).toEqual([a, b].sort())
    bench.org.store.convert(a)
    bench.org.store.delete('Lead', b)
    expect(await maker.find('Lead', [identity])).toEqual([])
    expect(await maker.find('Lead', [])).toEqual([])
  })
})

describe('records of Salesforce are taken back', () => {
  test('into the recycle bin, in one call, each by itself', async () => {
    const ids = await make('Account', [draft('a', { company_name: 'A' }), draft('b', { company_name: 'B' })])
    const [others = ''] = bench.ids('Account', 1)
    bench.org.store.delete('Account', ids[1]!)
    const asked = [...ids, others, '001Wx00000zzzzzIAA', 'nonsense', ids[0]!.slice(0, 15)]
    const { result, calls: sent } = await counted(() => maker.archive('Account', asked))
    expect(sent).toBe(1)
    expect(result.map(({ id, status }) => [id, status])).toEqual([
      [asked[0], 'archived'],
      [asked[1], 'gone'],
      [asked[2], 'rejected'],
      [asked[3], 'gone'],
      [asked[4], 'gone'],
      [asked[5], 'archived'],
    ])
    expect(result[2]).toMatchObject({ reason: expect.stringContaining('Modify All') })
    expect(maker.bin.keptDays).toBe(15)
    // A record that was taken back may be made again.
    expect(await maker.create('Account', [draft('a', { company_name: 'A' })])).toMatchObject([
      { status: 'created' },
    ])
  })

  test('a snapshot shows every edit, owner and tie, in two calls', async () => {
    const made = await make(
      'Account',
      Array.from({ length: 30 }, (_, at) => draft(`k${at}`, { company_name: `N ${at}` })),
    )
    const before = await counted(() => maker.snapshots('Account', [...made, '001Wx00000zzzzzIAA']))
    expect(before.calls).toBe(2)
    expect([...before.result.keys()]).toEqual(made)
    const [a = '', b = '', c = '', d = ''] = made
    expect(before.result.get(a)).toMatchObject({
      properties: { Name: 'N 0', OwnerId: bench.org.store.apiUserId, Paydirt_Key__c: 'k0' },
      tied: {},
    })
    bench.org.store.edit('Account', a, { Fax: '123' })
    bench.org.store.edit('Account', b, {
      OwnerId: bench.org.store.get('Account', bench.ids('Account', 1)[0]!)!.fields['OwnerId']!,
    })
    bench.org.store.tie('Tasks', c)
    bench.org.store.tie('Opportunities', d)
    bench.org.store.tie('ContentDocumentLinks', d)
    bench.org.store.add('Contact', { fields: { LastName: 'New', AccountId: d } })
    const after = await maker.snapshots('Account', made)
    const changed = made.filter(
      (id) => JSON.stringify(after.get(id)) !== JSON.stringify(before.result.get(id)),
    )
    expect(changed).toEqual([a, b, c, d])
    expect(after.get(c)?.tied).toEqual({ tasks: 1 })
    expect(after.get(d)?.tied).toEqual({ contacts: 1, deals: 1, files: 1 })
  })

  test('only blank accounts of contacts are set', async () => {
    const [account = '', other = ''] = bench.ids('Account', 2)
    const ids = await make('Contact', [
      draft('a', { last_name: 'A' }),
      draft('b', { last_name: 'B' }, { companyId: other }),
      draft('c', { last_name: 'C' }, { companyId: account }),
    ])
    const pairs = [...ids, '003Wx00000zzzzzIAA'].map((from) => ({ from, to: account }))
    expect(await maker.associate('Contact', 'Account', pairs)).toEqual(
      new Map([
        [1, 'the contact belongs to another account'],
        [3, 'the contact is gone'],
      ]),
    )
    expect(ids.map((id) => bench.org.store.get('Contact', id)?.fields['AccountId'])).toEqual([
      account,
      other,
      account,
    ])
    expect([...(await maker.associate('Lead', 'Account', pairs.slice(0, 1))).keys()]).toEqual([0])
  })
})
