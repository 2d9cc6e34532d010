import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RecordDraft, RecordMaker } from '../../src/connectors/creating.ts'
import type { Patch } from '../../src/domain/record.ts'
import { recordIdentities } from '../../src/domain/subjects/record-identities.ts'
import { FORMER_USER_ID } from '../../src/sandbox/salesforce/store.ts'
import { openSalesforceBench, type SalesforceBench } from './salesforce.fixture.ts'

let bench: SalesforceBench
let maker: RecordMaker
beforeEach(async () => {
  bench = await openSalesforceBench()
  maker = bench.connect().maker!
})
afterEach(() => bench.stop())

const patch = (values: Record<string, string | number>): Patch =>
  Object.fromEntries(Object.entries(values).map(([name, set]) => [name, { set }]))
const draft = (key: string, values: Record<string, string | number>, more = {}): RecordDraft => ({
  key,
  patch: patch(values),
  ...more,
})
const calls = (): number => bench.requests(/\/(composite|query)/)

async function counted<T>(work: () => Promise<T>): Promise<{ result: T; calls: number }> {
  const before = calls()
  const result = await work()
  return { result, calls: calls() - before }
}

async function make(entity: 'Account' | 'Contact' | 'Lead', drafts: RecordDraft[]): Promise<string[]> {
  const results = await maker.create(entity, drafts)
  return results.map((result) => (result.status === 'created' ? result.id : result.status))
}

describe('records are made in Salesforce', () => {
  test('200 in one call, with our key and stamp, fitted to their fields', async () => {
    await maker.create('Account', [draft('warm', { company_name: 'Warm up' })])
    const drafts = Array.from({ length: 200 }, (_, at) =>
      draft(`k${at}`, {
        company_name: `Norvik ${at}`,
        website: `https://norvik-${at}.example.com`,
        employees: at + 1,
      }),
    )
    const { result, calls: sent } = await counted(() => maker.create('Account', drafts))
    expect(sent).toBe(1)
    expect(result.map(({ status }) => status)).toEqual(drafts.map(() => 'created'))
    expect(result.map(({ key }) => key)).toEqual(drafts.map(({ key }) => key))
    const [first] = result
    const made = first?.status === 'created' ? bench.org.store.get('Account', first.id) : undefined
    expect(made?.fields).toMatchObject({
      Name: 'Norvik 0',
      Paydirt_Key__c: 'k0',
      Paydirt_Status__c: 'enriched',
      NumberOfEmployees: 1,
    })
  })

  test('and the next scan knows them as our own', async () => {
    const connector = bench.connect()
    const seen: string[] = []
    let after: string | undefined
    for await (const page of connector.scan('Account', {})) after = page.watermark
    bench.clock.nowMs += 60_000
    const [id = ''] = await make('Account', [draft('k', { company_name: 'Norvik', country_code: 'NO' })])
    for await (const page of connector.scan('Account', after === undefined ? {} : { after }))
      seen.push(...(page.ownWrites ?? []))
    expect(seen).toContain(id)
  })

  test('once: a repeat leaves what a person has edited since', async () => {
    const again = draft('k', { company_name: 'Norvik' })
    const [id = ''] = await make('Account', [again])
    bench.org.store.edit('Account', id, { Name: 'Norvik AS' })
    const present = [{ key: 'k', status: 'present', id }]
    expect(await maker.create('Account', [{ ...again, isRepeat: true }])).toEqual(present)
    // Another ledger, which knows nothing of the first attempt.
    expect(await maker.create('Account', [again])).toEqual(present)
    expect(bench.org.store.get('Account', id)?.fields['Name']).toBe('Norvik AS')
  })

  test('once, when the answer is lost and the duplicate rules find our own record', async () => {
    bench.org.faults.inject({ kind: 'drop-after', method: 'POST', path: /\/composite\/sobjects$/ })
    const before = bench.org.store.count('Contact')
    const results = await maker.create('Contact', [
      draft('k', { last_name: 'Byron', email: 'ada@engines.com' }),
    ])
    expect(results).toEqual([{ key: 'k', status: 'present', id: expect.any(String) }])
    expect(bench.org.store.count('Contact')).toBe(before + 1)
  })

  test('after the fields that a new record needs, which a description names', async () => {
    const required = async (entity: string): Promise<string[]> =>
      (await bench.connect().describe(entity)).flatMap((field) => (field.required ? [field.name] : []))
    expect(await Promise.all(['Account', 'Contact', 'Lead'].map(required))).toEqual([
      ['Name'],
      ['LastName'],
      ['LastName', 'Company'],
    ])
  })

  test('once, when two drafts of a call have one key', async () => {
    const results = await maker.create('Account', [
      draft('k', { company_name: 'Norvik' }),
      draft('K', { company_name: 'Norvik Ltd' }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['created', 'present'])
  })

  test('once, also after the record was merged into another', async () => {
    const [id = ''] = await make('Account', [draft('k', { company_name: 'Norvik' })])
    const [winner = ''] = bench.ids('Account', 1)
    bench.org.store.merge('Account', winner, id)
    bench.org.store.edit('Account', winner, { Paydirt_Key__c: null })
    const repeat = draft('k', { company_name: 'Norvik' }, { isRepeat: true })
    expect(await maker.create('Account', [repeat])).toEqual([{ key: 'k', status: 'present', id: winner }])
  })

  test('and one bad record never stops the others', async () => {
    const results = await maker.create('Lead', [
      draft('a', { last_name: 'Byron', company_name: 'Engines', email: 'ada@engines.com' }),
      draft('b', { last_name: 'Byron' }),
      draft('c', { last_name: 'Byron', company_name: 'Engines', email: 'some[one]@engines.com' }),
      draft('d', { last_name: 'Babbage', company_name: 'Engines' }, { ownerId: FORMER_USER_ID }),
      draft('e', { last_name: 'Somerville', company_name: 'Engines', country_code: 'Atlantis' }),
    ])
    expect(results).toMatchObject([
      { status: 'created' },
      { status: 'rejected', code: 'REQUIRED_FIELD_MISSING', field: 'company_name' },
      { status: 'rejected', code: 'INVALID_EMAIL_ADDRESS', field: 'email' },
      { status: 'rejected', code: 'INACTIVE_OWNER_OR_USER' },
      { status: 'created', leftOut: [{ field: 'country_code', code: 'NOT_A_COUNTRY' }] },
    ])
    expect(JSON.stringify(results)).not.toContain('some[one]')
  })

  test('a contact under its account, and a lead under none, each with its owner', async () => {
    const [account = ''] = bench.ids('Account', 1)
    const ownerId = bench.org.store.get('Account', account)?.fields['OwnerId'] as string
    const more = { companyId: account.slice(0, 15), ownerId }
    const [contact = ''] = await make('Contact', [
      draft('a', { first_name: 'Ada', last_name: 'Byron' }, more),
    ])
    const [lead = ''] = await make('Lead', [
      draft('b', { last_name: 'Byron', company_name: 'Engines' }, more),
    ])
    expect(bench.org.store.get('Contact', contact)?.fields).toMatchObject({
      FirstName: 'Ada',
      AccountId: account,
      OwnerId: ownerId,
    })
    expect(bench.org.store.get('Lead', lead)?.fields).toMatchObject({ OwnerId: ownerId, Status: 'Open' })
  })

  test('never against the duplicate rules, which name what they found in one more call', async () => {
    const [contact = ''] = bench.ids('Contact', 1)
    bench.org.store.edit('Contact', contact, { Email: 'ada@engines.com' })
    maker = bench.connect({ headers: { allowDuplicates: true } }).maker!
    const person = { last_name: 'Byron', email: 'ADA@engines.com' }
    await bench.connect().describe('Contact')
    await maker.create('Contact', [draft('warm', { last_name: 'Warm' })])
    const { result, calls: sent } = await counted(() =>
      maker.create('Contact', [draft('a', person), draft('b', { last_name: 'Babbage' })]),
    )
    expect(result).toMatchObject([
      { key: 'a', status: 'exists', ids: [contact] },
      { key: 'b', status: 'created' },
    ])
    // The collection, the look-up by key, and the question which records the rule means.
    expect(sent).toBe(3)
    const [lead] = await maker.create('Lead', [draft('c', { ...person, company_name: 'Engines' })])
    expect(lead).toMatchObject({ status: 'exists', ids: [] })
    expect(lead?.status === 'exists' && lead.reason).toContain(`Contact ${contact}`)
  })

  test('never beside a record that has the same value in a unique field of the org', async () => {
    const field = bench.org.store.schema.Account.fields.get('website')!
    bench.org.store.defineField('Account', { ...field, unique: true })
    const [id = ''] = bench.ids('Account', 1)
    bench.org.store.edit('Account', id, { Website: 'norvik.com' })
    const [result] = await maker.create('Account', [
      draft('k', { company_name: 'Other', website: 'norvik.com' }),
    ])
    expect(result).toMatchObject({ status: 'exists', ids: [id], reason: expect.stringContaining('Website') })
  })

  test('not without the unique field, and ordinary runs do not ask for it', async () => {
    bench.org.store.schema.Account.fields.delete('paydirt_key__c')
    const connector = bench.connect()
    await expect(
      connector.maker!.create('Account', [draft('k', { company_name: 'X' })]),
    ).rejects.toMatchObject({
      code: 'key_field_missing',
      message: expect.stringContaining('Paydirt Lists'),
    })
    const states = async (forCreating: boolean): Promise<string[]> =>
      (await connector.ensureFields('Account', { dryRun: true, forCreating }))
        .filter(({ status }) => status !== 'exists')
        .map(({ name }) => name)
    expect(await states(false)).toEqual([])
    expect(await states(true)).toEqual(['Paydirt_Key__c'])
    expect((await connector.check()).problems.map(({ code }) => code)).not.toContain('own_field_missing')
  })

  test('not with a field that is not unique, nor without the right to create', async () => {
    const field = bench.org.store.schema.Lead.fields.get('paydirt_key__c')!
    bench.org.store.defineField('Lead', { ...field, unique: false })
    await expect(maker.create('Lead', [draft('k', {})])).rejects.toThrow(/it is not unique/)
    bench.org.store.access.cannotCreate.add('Account')
    await expect(maker.create('Account', [draft('k', {})])).rejects.toThrow(
      /may not create records of Account/,
    )
  })

  test('business accounts and their contacts, where the org has person accounts', async () => {
    await bench.stop()
    bench = await openSalesforceBench({ personAccounts: true })
    maker = bench.connect().maker!
    const person = bench.org.store.addPerson({ FirstName: 'Ada', LastName: 'Byron', Email: 'ada@home.com' })
    const contact = String(person.fields['PersonContactId'])
    const [account = ''] = await make('Account', [draft('a', { company_name: 'Engines' })])
    expect(bench.org.store.get('Account', account)?.fields['IsPersonAccount']).toBeUndefined()
    const results = await maker.create('Contact', [
      draft('b', { last_name: 'Babbage' }, { companyId: account }),
      draft('c', { last_name: 'Somerville' }, { companyId: person.id }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['created', 'rejected'])
    expect(await maker.associate('Contact', 'Account', [{ from: contact, to: account }])).toEqual(
      new Map([[0, 'the contact is a person account']]),
    )
    const found = await maker.find('Contact', [{ kind: 'email', value: 'ada@home.com' }])
    expect(found.map(({ id }) => id)).toEqual([contact])
    expect(await maker.find('Account', [{ kind: 'email', value: 'ada@home.com' }])).toEqual([])
  })
})

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
