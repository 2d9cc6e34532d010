import { Connection } from 'jsforce'
import { describe, expect, test } from 'vitest'
import { FORMER_USER_ID } from '../../src/sandbox/salesforce/store.ts'
import {
  call,
  clock,
  data,
  firstIds,
  query,
  salesforce,
  useSalesforce,
} from './salesforce-stand-in.fixture.ts'
import type { Reply } from './stand-in-calls.ts'

useSalesforce()

const noDuplicates = { 'sforce-duplicate-rule-header': 'allowSave=false' }

const insert = (type: string, records: readonly object[], more = {}): Promise<Reply> =>
  call(
    'POST',
    `${data}/composite/sobjects`,
    { allOrNone: false, records: records.map((record) => ({ attributes: { type }, ...record })), ...more },
    noDuplicates,
  )

const upsert = (type: string, records: readonly object[], field = 'Paydirt_Key__c'): Promise<Reply> =>
  call(
    'PATCH',
    `${data}/composite/sobjects/${type}/${field}`,
    { allOrNone: false, records: records.map((record) => ({ attributes: { type }, ...record })) },
    noDuplicates,
  )

const remove = (ids: readonly string[]): Promise<Reply> =>
  call('DELETE', `${data}/composite/sobjects?ids=${ids.join(',')}&allOrNone=false`)

const codes = (reply: Reply): (string | undefined)[] =>
  reply.body.map((each: { errors: { statusCode: string }[] }) => each.errors[0]?.statusCode)

describe('the Salesforce stand-in makes records', () => {
  test('by collections of 200, in one call, owned by the user of the API', async () => {
    const names = Array.from({ length: 200 }, (_, index) => ({ Name: `Made ${index}` }))
    const { status, body } = await insert('Account', names)
    expect(status).toBe(200)
    expect(body).toHaveLength(200)
    expect(body[7]).toEqual({ id: expect.stringMatching(/^001\w{15}$/), success: true, errors: [] })
    const made = salesforce.store.get('Account', body[7].id as string)
    expect(made?.fields).toMatchObject({ Name: 'Made 7', OwnerId: salesforce.store.apiUserId })
    expect((await insert('Account', [...names, {}])).body[0].errorCode).toBe('EXCEEDED_ID_LIMIT')
  })

  test('and names the required fields that are missing, each record by itself', async () => {
    const replies = await Promise.all([
      insert('Account', [{}, { Name: 'Fine' }]),
      insert('Contact', [{ FirstName: 'Ada' }]),
      insert('Lead', [{ FirstName: 'Ada' }, { LastName: 'Byron', Company: 'Engines' }]),
    ])
    expect(replies.map(codes)).toEqual([
      ['REQUIRED_FIELD_MISSING', undefined],
      ['REQUIRED_FIELD_MISSING'],
      ['REQUIRED_FIELD_MISSING', undefined],
    ])
    expect(replies[2]?.body[0].errors[0].fields).toEqual(['LastName', 'Company'])
  })

  test('all or none: a refused record takes the others with it', async () => {
    const before = salesforce.store.count('Account')
    const reply = await insert('Account', [{ Name: 'Fine' }, {}], { allOrNone: true })
    expect(codes(reply)).toEqual(['ALL_OR_NONE_OPERATION_ROLLED_BACK', 'REQUIRED_FIELD_MISSING'])
    expect(salesforce.store.count('Account')).toBe(before)
  })

  test('a unique value once, in any case, and names the record that has it', async () => {
    const first = await insert('Account', [{ Name: 'A', Paydirt_Key__c: 'abc' }])
    const again = await insert('Account', [{ Name: 'B', Paydirt_Key__c: 'ABC' }])
    expect(codes(again)).toEqual(['DUPLICATE_VALUE'])
    expect(again.body[0].errors[0].message).toBe(
      `duplicate value found: Paydirt_Key__c duplicates value on record with id: ${first.body[0].id.slice(0, 15)}`,
    )
    salesforce.store.delete('Account', first.body[0].id as string)
    expect(codes(await insert('Account', [{ Name: 'B', Paydirt_Key__c: 'ABC' }]))).toEqual([undefined])
  })

  test('upserts by an external id: made once, then updated, and never by another field', async () => {
    const key = { Paydirt_Key__c: 'k1' }
    const first = await upsert('Account', [{ ...key, Name: 'One' }])
    expect(first.body).toEqual([{ id: expect.any(String), success: true, errors: [], created: true }])
    const second = await upsert('Account', [{ ...key, Name: 'Two' }])
    expect(second.body).toEqual([{ id: first.body[0].id, success: true, errors: [], created: false }])
    expect(salesforce.store.get('Account', first.body[0].id as string)?.fields['Name']).toBe('Two')
    expect(
      codes(await upsert('Account', [{ ...key, Name: 'X' }, { ...key, Name: 'Y' }, { Name: 'Z' }])),
    ).toEqual(['DUPLICATE_VALUE', 'DUPLICATE_VALUE', 'MISSING_ARGUMENT'])
    expect(await upsert('Account', [{ Name: 'X', Website: 'a.com' }], 'Website')).toMatchObject({
      status: 404,
      body: [{ errorCode: 'NOT_FOUND' }],
    })
    expect((await upsert('Account', [{ ...key, Id: first.body[0].id }])).status).toBe(400)
  })

  test('answers 300 where a key that is not unique belongs to several records', async () => {
    const field = salesforce.store.schema.Account.fields.get('paydirt_key__c')
    if (!field) throw new Error('no such field')
    salesforce.store.defineField('Account', { ...field, unique: false })
    const [a, b] = firstIds('Account', 2)
    for (const id of [a, b]) salesforce.store.edit('Account', id!, { Paydirt_Key__c: 'twice' })
    const single = await call('PATCH', `${data}/sobjects/Account/Paydirt_Key__c/twice`, { Name: 'X' })
    expect(single.status).toBe(300)
    expect(single.body).toEqual([a, b].map((id) => `${data}/sobjects/Account/${id}`))
    expect(codes(await upsert('Account', [{ Paydirt_Key__c: 'twice', Name: 'X' }]))).toEqual([
      'DUPLICATE_EXTERNAL_ID',
    ])
  })

  test('refuses duplicates by the rules, and names them only for a single record', async () => {
    const [id = ''] = firstIds('Contact', 1)
    salesforce.store.edit('Contact', id, { Email: 'ada@engines.example.com' })
    const wanted = { LastName: 'Byron', Company: 'Engines', Email: 'Ada@engines.example.com' }
    const many = await insert('Lead', [wanted])
    expect(many.body[0].errors).toEqual([
      { statusCode: 'DUPLICATES_DETECTED', message: 'Use one of these records?', fields: [] },
    ])
    const one = await call('POST', `${data}/sobjects/Lead`, wanted)
    expect(one.status).toBe(400)
    expect(one.body[0]).toMatchObject({
      errorCode: 'DUPLICATES_DETECTED',
      duplicateResut: {
        duplicateRule: 'Standard_Lead_Duplicate_Rule',
        matchResults: [{ entityType: 'Contact', matchRecords: [{ record: { Id: id } }] }],
      },
    })
    const allowed = { 'sforce-duplicate-rule-header': 'allowSave=true' }
    expect((await call('POST', `${data}/sobjects/Lead`, wanted, allowed)).status).toBe(201)
  })

  test('only for an active owner, and under an account that is there', async () => {
    const [account = ''] = firstIds('Account', 1)
    salesforce.store.delete('Account', account)
    const reply = await insert('Contact', [
      { LastName: 'A', OwnerId: FORMER_USER_ID },
      { LastName: 'B', OwnerId: '005Wx0000000999' },
      { LastName: 'C', AccountId: account },
    ])
    expect(codes(reply)).toEqual([
      'INACTIVE_OWNER_OR_USER',
      'INVALID_CROSS_REFERENCE_KEY',
      'ENTITY_IS_DELETED',
    ])
  })
})

describe('the Salesforce stand-in deletes records', () => {
  test('that the user owns, with their contacts, and keeps them in the recycle bin for 15 days', async () => {
    const [mine, others = ''] = [await insert('Account', [{ Name: 'Mine' }]), ...firstIds('Account', 1)]
    const id = mine.body[0].id as string
    const contact = await insert('Contact', [{ LastName: 'A', AccountId: id }])
    const reply = await remove([id, others, '001Wx00000zzzzzIAA', 'nonsense'])
    expect(codes(reply)).toEqual([
      undefined,
      'INSUFFICIENT_ACCESS_OR_READONLY',
      'INVALID_CROSS_REFERENCE_KEY',
      'MALFORMED_ID',
    ])
    expect(salesforce.store.get('Contact', contact.body[0].id as string)?.deletedAtMs).toBeDefined()
    expect(codes(await remove([id]))).toEqual(['ENTITY_IS_DELETED'])
    const soql = `SELECT Id, IsDeleted FROM Account WHERE Id = '${id}'`
    const all = (): Promise<Reply> => call('GET', `${data}/queryAll?q=${encodeURIComponent(soql)}`)
    expect((await query(soql)).body.records).toEqual([])
    expect((await all()).body.records).toMatchObject([{ Id: id, IsDeleted: true }])
    clock.nowMs += 16 * 86_400_000
    salesforce.auth.newSession()
    const token = salesforce.auth.newSession()
    const later = await fetch(`${salesforce.baseUrl}${data}/queryAll?q=${encodeURIComponent(soql)}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(await later.json()).toMatchObject({ records: [] })
  })

  test('but no account with cases', async () => {
    const [id = ''] = firstIds('Account', 1)
    salesforce.store.access.modifyAll.add('Account')
    salesforce.store.tie('Cases', id)
    expect(codes(await remove([id]))).toEqual(['DELETE_FAILED'])
  })
})

describe('the Salesforce stand-in answers', () => {
  test('subqueries over what is tied to a record, as a describe call names it', async () => {
    const [a = '', b = ''] = firstIds('Account', 2)
    salesforce.store.tie('Tasks', a)
    salesforce.store.tie('Tasks', a)
    const { body } = await query(
      `SELECT Id, (SELECT Id FROM Tasks), (SELECT Id FROM Opportunities) FROM Account WHERE Id IN ('${a}', '${b}') ORDER BY Id`,
    )
    expect(body.records).toMatchObject([
      { Id: a, Tasks: { totalSize: 2 }, Opportunities: null },
      { Id: b, Tasks: null },
    ])
    expect((await query('SELECT Id, (SELECT Id FROM Nonsense__r) FROM Account')).status).toBe(400)
    const described = await call('GET', `${data}/sobjects/Lead/describe`)
    expect(described.body.childRelationships).toContainEqual(
      expect.objectContaining({ relationshipName: 'Tasks', childSObject: 'Task', field: 'WhoId' }),
    )
  })

  test('composite requests as one call, with at most five queries', async () => {
    const [id = ''] = firstIds('Account', 1)
    const url = `${data}/query?q=${encodeURIComponent(`SELECT Id FROM Account WHERE Id = '${id}'`)}`
    const requests = (count: number): object[] =>
      Array.from({ length: count }, (_, index) => ({ method: 'GET', url, referenceId: `q${index}` }))
    const used = salesforce.quota.used
    const { body } = await call('POST', `${data}/composite`, { compositeRequest: requests(5) })
    expect(salesforce.quota.used).toBe(used + 1)
    expect(body.compositeResponse).toHaveLength(5)
    expect(body.compositeResponse[4]).toMatchObject({
      httpStatusCode: 200,
      referenceId: 'q4',
      body: { records: [{ Id: id }] },
    })
    expect((await call('POST', `${data}/composite`, { compositeRequest: requests(6) })).status).toBe(400)
  })

  test('no query that is longer than an address or a statement may be', async () => {
    const longUrl = `SELECT Id FROM Account WHERE Name = '${'x'.repeat(16_400)}'`
    expect((await query(longUrl)).status).toBe(414)
    const url = `${data}/query?q=${encodeURIComponent(`SELECT Id FROM Account WHERE Name = '${'x'.repeat(100_001)}'`)}`
    const { body } = await call('POST', `${data}/composite`, {
      compositeRequest: [{ method: 'GET', url, referenceId: 'a' }],
    })
    expect(body.compositeResponse[0].httpStatusCode).toBe(400)
  })
})

test('jsforce makes, upserts, updates, finds and deletes records in the stand-in by its own calls', async () => {
  const connection = new Connection({
    instanceUrl: salesforce.baseUrl,
    accessToken: salesforce.token,
    version: '68.0',
  })
  const accounts = connection.sobject('Account')
  const made = await accounts.create([{ Name: 'One' }, { Name: 'Two' }, {}])
  expect(made.map(({ success }) => success)).toEqual([true, true, false])
  const single = await accounts.create({ Name: 'Three' })
  const key = (Name: string): Record<string, string> => ({ Name, Paydirt_Key__c: 'k' })
  expect(await accounts.upsert([key('Four')], 'Paydirt_Key__c')).toMatchObject([{ created: true }])
  expect(await accounts.upsert(key('Five'), 'Paydirt_Key__c')).toMatchObject({ created: false })
  const ids = [made[0]?.id, made[1]?.id, single.id].map(String)
  const rows = await connection.query(
    `SELECT Id, (SELECT Id FROM Contacts) FROM Account WHERE Id = '${ids[0]}'`,
  )
  expect(rows.records).toMatchObject([{ Id: ids[0], Contacts: null }])
  expect((await accounts.destroy(ids)).map(({ success }) => success)).toEqual([true, true, true])
  await expect(accounts.destroy(String(ids[0]))).rejects.toThrow('entity is deleted')
})
