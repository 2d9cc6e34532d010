import { describe, expect, test } from 'vitest'
import {
  call,
  clock,
  data,
  firstIds,
  idsOf,
  query,
  salesforce,
  start,
  update,
  useSalesforce,
} from './salesforce-stand-in.fixture.ts'
import { type Reply } from './stand-in-calls.ts'

useSalesforce()

describe('the Salesforce stand-in', () => {
  test('has the same records for the same seed, with real ties of whole seconds', async () => {
    const other = await start()
    try {
      for (const type of ['Account', 'Contact', 'Lead'] as const)
        expect([...other.store.list(type)]).toEqual([...salesforce.store.list(type)])
    } finally {
      await other.stop()
    }
    const stamps = [...salesforce.store.list('Contact')].map((record) => record.modstampMs)
    expect(stamps.every((stamp) => stamp % 1000 === 0)).toBe(true)
    expect(new Set(stamps).size).toBe(20)
  })

  test('pages by stamp and id through ties, each record once', async () => {
    const seen: string[] = []
    let after = { stamp: '2020-01-01T00:00:00.000+0000', id: '000000000000000AAA' }
    for (;;) {
      const { body } = await query(
        `SELECT Id, SystemModstamp FROM Contact WHERE (SystemModstamp > ${after.stamp} OR (SystemModstamp = ${after.stamp} AND Id > '${after.id}')) AND SystemModstamp < 2026-11-20T12:00:00Z ORDER BY SystemModstamp, Id LIMIT 7`,
      )
      if (body.records.length === 0) break
      seen.push(...body.records.map((record: { Id: string }) => record.Id))
      const last = body.records.at(-1)
      after = { stamp: last.SystemModstamp, id: last.Id }
    }
    expect(seen).toHaveLength(60)
    expect(new Set(seen)).toEqual(new Set(firstIds('Contact', 60)))
  })

  test('answers 2,000 rows a page and the way to the next', async () => {
    salesforce.store.seed('Lead', { count: 4100, modstampMs: clock.nowMs })
    const first = await query('SELECT Id FROM Lead ORDER BY Id')
    expect(first.body).toMatchObject({ totalSize: 4120, done: false })
    expect(first.body.records).toHaveLength(2000)
    const second = await call('GET', first.body.nextRecordsUrl as string)
    const third = await call('GET', second.body.nextRecordsUrl as string)
    expect(third.body).toMatchObject({ totalSize: 4120, done: true })
    expect(third.body.nextRecordsUrl).toBeUndefined()
    expect([first, second, third].flatMap(idsOf)).toEqual(firstIds('Lead', 4120))
    expect(await call('GET', `${data}/query/01gWx0000000009AAA-2000`)).toMatchObject({
      status: 400,
      body: [{ errorCode: 'INVALID_QUERY_LOCATOR' }],
    })
  })

  test('selects as SOQL does: no letter case, nulls different from all, lists, patterns, parents', async () => {
    const [accountId = ''] = firstIds('Account', 1)
    const add = (fields: Record<string, string | null>): string =>
      salesforce.store.add('Contact', { fields }).id
    const ann = add({ LastName: 'Zeta', FirstName: "Ann O'Hara", Title: '', AccountId: accountId })
    const bob = add({ LastName: 'ZETA', FirstName: 'Bob', Title: '100%' })
    const one = async (where: string): Promise<string[]> =>
      idsOf(await query(`SELECT Id FROM Contact WHERE ${where} ORDER BY Id`))
    expect(await one("LastName = 'zeta'")).toEqual([ann, bob])
    expect(await one("LastName = 'Zeta' AND Title != '100%'")).toEqual([ann])
    expect(await one("LastName = 'Zeta' AND Title = null")).toEqual([ann])
    expect(await one("LastName = 'Zeta' AND Title != null")).toEqual([bob])
    expect(await one("FirstName LIKE 'ann o\\'%'")).toEqual([ann])
    expect(await one("LastName = 'Zeta' AND Title LIKE '100\\%'")).toEqual([bob])
    expect(await one(`Id IN ('${ann.slice(0, 15)}', '${bob}')`)).toEqual([ann, bob])
    expect(await one(`LastName = 'Zeta' AND Id NOT IN ('${bob}')`)).toEqual([ann])
    expect(await one("LastName = 'Zeta' AND (NOT FirstName = 'Bob')")).toEqual([ann])
    const parent = await query(
      `SELECT Name, Account.Name FROM Contact WHERE Id IN ('${ann}', '${bob}') ORDER BY Id`,
    )
    expect(parent.body.records).toMatchObject([
      { Name: "Ann O'Hara Zeta", Account: { attributes: { type: 'Account' }, Name: expect.any(String) } },
      { Name: 'Bob ZETA', Account: null },
    ])
  })

  test.each([
    ['MALFORMED_QUERY', 'SELECT Id FROM Contact WHERE'],
    ['MALFORMED_QUERY', "SELECT Id FROM Contact WHERE LastName = 'a' AND Title = 'b' OR Title = 'c'"],
    ['MALFORMED_QUERY', 'SELECT Id FROM Contact WHERE SystemModstamp = LAST_N_DAYS:3'],
    ['MALFORMED_QUERY', 'SELECT Id FROM Contact LIMIT 5 WHERE Id != null'],
    ['MALFORMED_QUERY', 'SELECT * FROM Contact'],
    ['MALFORMED_QUERY', 'SELECT Id FROM Contact WHERE LastName = "x"'],
    ['INVALID_FIELD', 'SELECT Nope FROM Contact'],
    ['INVALID_FIELD', "SELECT Id FROM Contact WHERE SystemModstamp > '2026-01-01T00:00:00Z'"],
    ['INVALID_FIELD', "SELECT Id FROM Account WHERE Description = 'x'"],
    ['INVALID_TYPE', 'SELECT Id FROM Nope'],
    ['INVALID_QUERY_FILTER_OPERATOR', "SELECT Id FROM Contact WHERE Id = 'nope'"],
  ])('answers %s to: %s', async (errorCode, soql) => {
    expect(await query(soql)).toMatchObject({
      status: 400,
      body: [{ errorCode, message: expect.any(String) }],
    })
  })

  test('updates a collection in order, each failure with its own code and field', async () => {
    const ids = firstIds('Contact', 8)
    const [leadId = '', convertedId = ''] = firstIds('Lead', 2)
    salesforce.store.delete('Contact', ids[6] as string)
    salesforce.store.convert(convertedId)
    salesforce.faults.readOnlyRecords.add(ids[7] as string)
    salesforce.faults.validationRules.push({
      type: 'Contact',
      field: 'Title',
      message: 'No kings here',
      refuses: (values) => values.Title === 'King',
    })
    const contacts = await update('Contact', [
      { id: ids[0], Title: ' Pilot ', Phone: null, MailingCity: '' },
      { id: ids[1], Email: 'nope' },
      { id: ids[2], FirstName: 'x'.repeat(41) },
      { id: ids[3], Size_Band__c: 'huge' },
      { id: ids[4], Title: 'King' },
      { id: ids[5], LastName: null },
      { id: ids[6], Title: 'x' },
      { id: ids[7], Title: 'x' },
      { id: '003Wx00000zzzzzAAA', Title: 'x' },
      { id: leadId, Title: 'x' },
      { id: ids[1], CreatedDate: '2026-01-01T00:00:00Z' },
    ])
    expect(contacts.status).toBe(200)
    expect(contacts.body[0]).toEqual({ id: ids[0], success: true, errors: [] })
    const codes = contacts.body
      .slice(1)
      .map((result: { success: boolean; errors: { statusCode: string; fields: string[] }[] }) => {
        expect(result.success).toBe(false)
        return [result.errors[0]?.statusCode, result.errors[0]?.fields.join()]
      })
    expect(codes).toEqual([
      ['INVALID_EMAIL_ADDRESS', 'Email'],
      ['STRING_TOO_LONG', 'FirstName'],
      ['INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', 'Size_Band__c'],
      ['FIELD_CUSTOM_VALIDATION_EXCEPTION', 'Title'],
      ['REQUIRED_FIELD_MISSING', 'LastName'],
      ['ENTITY_IS_DELETED', ''],
      ['INSUFFICIENT_ACCESS_OR_READONLY', ''],
      ['MALFORMED_ID', 'Id'],
      ['MALFORMED_ID', 'Id'],
      ['DUPLICATE_VALUE', ''],
    ])
    const [written] = (await query(`SELECT Title, Phone, MailingCity FROM Contact WHERE Id = '${ids[0]}'`))
      .body.records
    expect(written).toMatchObject({ Title: 'Pilot', Phone: null, MailingCity: null })
    expect((await update('Lead', [{ id: convertedId, Title: 'x' }])).body[0].errors[0]).toMatchObject({
      statusCode: 'CANNOT_UPDATE_CONVERTED_LEAD',
    })
  })

  test('stamps what it writes with the whole second and the API user', async () => {
    const [id = ''] = firstIds('Account', 1)
    await update('Account', [{ id, Phone: '+4930123456' }])
    const { body } = await call(
      'GET',
      `${data}/sobjects/Account/${id}?fields=Phone,SystemModstamp,LastModifiedById`,
    )
    expect(body).toEqual({
      attributes: { type: 'Account', url: `${data}/sobjects/Account/${id}` },
      Phone: '+4930123456',
      SystemModstamp: '2026-11-20T12:00:00.000+0000',
      LastModifiedById: salesforce.store.apiUserId,
    })
  })

  test('rolls all back under allOrNone, and refuses 201 records and unknown fields as a whole', async () => {
    const [a = '', b = ''] = firstIds('Account', 2)
    const before = structuredClone(salesforce.store.get('Account', a))
    const both = await update(
      'Account',
      [
        { id: a, Phone: '1' },
        { id: b, Name: null },
      ],
      { allOrNone: true },
    )
    expect(
      both.body.map((result: { errors: { statusCode: string }[] }) => result.errors[0]?.statusCode),
    ).toEqual(['ALL_OR_NONE_OPERATION_ROLLED_BACK', 'REQUIRED_FIELD_MISSING'])
    expect(salesforce.store.get('Account', a)).toEqual(before)
    const many = Array.from({ length: 201 }, () => ({ id: a, Phone: '1' }))
    expect((await update('Account', many)).body[0].errorCode).toBe('EXCEEDED_ID_LIMIT')
    expect(await update('Account', [{ id: a, Nope__c: 'x' }])).toMatchObject({
      status: 400,
      body: [{ errorCode: 'INVALID_FIELD' }],
    })
    salesforce.faults.unknownField = 'record'
    expect((await update('Account', [{ id: a, Nope__c: 'x' }])).body[0].errors[0].statusCode).toBe(
      'INVALID_FIELD',
    )
    expect((await update('Account', [{ id: a, NumberOfEmployees: 'many' }])).body[0].errorCode).toBe(
      'JSON_PARSER_ERROR',
    )
  })

  test('detects duplicates unless the header allows them', async () => {
    const [a = '', b = ''] = firstIds('Contact', 2)
    salesforce.store.edit('Contact', b, { Email: 'taken@norvik.com' })
    const write = (headers: object): Promise<Reply> =>
      update('Contact', [{ id: a, Email: 'Taken@norvik.com' }], {}, headers)
    expect((await write({})).body[0].errors[0].statusCode).toBe('DUPLICATES_DETECTED')
    expect((await write({ 'Sforce-Duplicate-Rule-Header': 'allowSave=true' })).body[0].success).toBe(true)
  })

  test('gives an updated lead to the queue of an active rule unless the header says not to', async () => {
    const [id = ''] = firstIds('Lead', 1)
    const owner = salesforce.store.get('Lead', id)?.fields.OwnerId
    const write = (headers: object): Promise<Reply> => update('Lead', [{ id, Title: 'x' }], {}, headers)
    await write({})
    expect(salesforce.store.get('Lead', id)?.fields.OwnerId).toBe(owner)
    salesforce.faults.hasLeadAssignment = true
    await write({ 'Sforce-Auto-Assign': 'FALSE' })
    expect(salesforce.store.get('Lead', id)?.fields.OwnerId).toBe(owner)
    await write({})
    expect(salesforce.store.get('Lead', id)?.fields.OwnerId).toMatch(/^00G/)
  })

  test('locks the account of a contact while another request writes, and rows on demand', async () => {
    const [accountId = ''] = firstIds('Account', 1)
    const contacts = ['One', 'Two'].map(
      (LastName) => salesforce.store.add('Contact', { fields: { LastName, AccountId: accountId } }).id,
    )
    // Long enough that the second request arrives while the first one holds its rows.
    salesforce.faults.lockHoldMs = 300
    const replies = await Promise.all(contacts.map((id) => update('Contact', [{ id, Title: 'x' }])))
    const results = replies.map((reply) => reply.body[0])
    expect(results.filter((result) => result.success)).toHaveLength(1)
    expect(results.find((result) => !result.success).errors).toEqual([
      {
        statusCode: 'UNABLE_TO_LOCK_ROW',
        message: `unable to obtain exclusive access to this record or 1 records: ${accountId}`,
        fields: [],
      },
    ])
    salesforce.faults.lockHoldMs = 0
    const together = await update(
      'Contact',
      contacts.map((id) => ({ id, Title: 'y' })),
    )
    expect(together.body.every((result: { success: boolean }) => result.success)).toBe(true)
    salesforce.faults.lockRows(contacts, 1)
    const again = (): Promise<Reply> => update('Contact', [{ id: contacts[0], Title: 'z' }])
    expect((await again()).body[0].errors[0].statusCode).toBe('UNABLE_TO_LOCK_ROW')
    expect((await again()).body[0].success).toBe(true)
  })
})
