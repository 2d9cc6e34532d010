import { describe, expect, test } from 'vitest'
import { FORMER_USER_ID } from '../../src/sandbox/salesforce/store.ts'
import { bench, counted, draft, make, maker, open, useMaker } from './salesforce-making.fixture.ts'

useMaker()

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

  test('once, when two processes make the same people at the same time', async () => {
    const drafts = Array.from({ length: 50 }, (_, at) =>
      draft(`k${at}`, { last_name: `Byron ${at}`, email: `ada-${at}@engines.com` }),
    )
    const before = bench.org.store.count('Contact')
    bench.org.faults.lockHoldMs = 5
    const both = await Promise.all(
      [bench.connect(), bench.connect()].map((connector) => connector.maker!.create('Contact', drafts)),
    )
    expect(bench.org.store.count('Contact')).toBe(before + 50)
    for (const at of drafts.keys())
      expect(both.map((results) => results[at]?.status).sort()).toEqual(['created', 'present'])
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
    const maker = bench.connect({ headers: { allowDuplicates: true } }).maker!
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
    await open({ personAccounts: true })
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
