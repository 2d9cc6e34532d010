import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  call,
  clock,
  data,
  firstIds,
  query,
  salesforce,
  useSalesforce,
} from './salesforce-stand-in.fixture.ts'
import { type Reply, send } from './stand-in-calls.ts'

useSalesforce()

describe('the Salesforce stand-in', () => {
  const token = (form: Record<string, string>): Promise<Reply> =>
    send(salesforce.baseUrl, '', 'POST', '/services/oauth2/token', new URLSearchParams(form).toString())

  test('reads and writes one record', async () => {
    const [id = '', gone = ''] = firstIds('Lead', 2)
    salesforce.store.delete('Lead', gone)
    const path = `${data}/sobjects/Lead`
    expect((await call('PATCH', `${path}/${id}`, { Title: 'x' })).status).toBe(204)
    expect(await call('PATCH', `${path}/${id}`, { Email: 'nope' })).toMatchObject({
      status: 400,
      body: [{ errorCode: 'INVALID_EMAIL_ADDRESS', fields: ['Email'] }],
    })
    expect(await call('GET', `${path}/${gone}`)).toMatchObject({
      status: 404,
      body: [{ errorCode: 'ENTITY_IS_DELETED' }],
    })
    expect(await call('GET', `${path}/00QWx00000zzzzz`)).toMatchObject({
      status: 404,
      body: [{ errorCode: 'NOT_FOUND' }],
    })
    const retrieved = await call('POST', `${data}/composite/sobjects/Lead`, {
      ids: [gone, id],
      fields: ['Id', 'Title'],
    })
    expect(retrieved.body).toMatchObject([null, { Id: id, Title: 'x' }])
    const byGet = await call('GET', `${data}/composite/sobjects/Lead?ids=${id},${gone}&fields=Id`)
    expect(byGet.body).toMatchObject([{ Id: id }, null])
  })

  test('lists deletions and merges, and queryAll still sees them', async () => {
    const [winner = '', loser = ''] = firstIds('Contact', 2)
    salesforce.store.merge('Contact', winner, loser)
    const window = (start: string, end: string): Promise<Reply> =>
      call(
        'GET',
        `${data}/sobjects/Contact/deleted/?start=${encodeURIComponent(start)}&end=${encodeURIComponent(end)}`,
      )
    expect((await window('2026-11-20T11:00:00+00:00', '2026-11-20T13:00:00+00:00')).body).toMatchObject({
      deletedRecords: [{ id: loser, deletedDate: '2026-11-20T12:00:00.000+0000' }],
      latestDateCovered: '2026-11-20T12:00:00.000+0000',
    })
    expect((await window('2026-11-20T11:59:30Z', '2026-11-20T12:00:00Z')).body[0].errorCode).toBe(
      'INVALID_REPLICATION_DATE',
    )
    expect((await window('2026-09-01T00:00:00Z', '2026-11-20T12:00:00Z')).body[0].errorCode).toBe(
      'INVALID_REPLICATION_DATE',
    )
    const all = `SELECT Id, IsDeleted, MasterRecordId FROM Contact WHERE Id = '${loser}'`
    expect((await query(all)).body.records).toEqual([])
    expect((await call('GET', `${data}/queryAll?q=${encodeURIComponent(all)}`)).body.records).toMatchObject([
      { IsDeleted: true, MasterRecordId: winner },
    ])
    salesforce.store.edit('Contact', winner, { Title: 'x' })
    const updated = await call(
      'GET',
      `${data}/sobjects/Contact/updated/?start=2026-11-20T11:00:00Z&end=2026-11-20T13:00:00Z`,
    )
    expect(updated.body.ids).toEqual([winner])
  })

  test('describes lengths, picklists and what can be written', async () => {
    const { body } = await call('GET', `${data}/sobjects/Contact/describe`)
    const field = (name: string): unknown =>
      body.fields.find((described: { name: string }) => described.name === name)
    expect(field('FirstName')).toMatchObject({ type: 'string', length: 40, nillable: true, updateable: true })
    expect(field('Size_Band__c')).toMatchObject({ restrictedPicklist: true, custom: true, type: 'picklist' })
    expect(field('LeadSource')).toMatchObject({
      restrictedPicklist: false,
      picklistValues: expect.any(Array),
    })
    expect(field('Name')).toMatchObject({ updateable: false, nameField: true })
    expect(field('AccountId')).toMatchObject({ referenceTo: ['Account'], relationshipName: 'Account' })
    expect((await call('GET', `${data}/sobjects/Nope/describe`)).status).toBe(404)
    const global = await call('GET', `${data}/sobjects`)
    expect(global.body.sobjects.map(({ name }: { name: string }) => name)).toEqual([
      'Account',
      'Contact',
      'Lead',
      'Note',
      'Task',
    ])
  })

  test('issues sessions for client credentials, which expire when unused', async () => {
    const { clientId, clientSecret } = salesforce.auth
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const { body } = await token(form)
    expect(body).toMatchObject({
      instance_url: salesforce.baseUrl,
      token_type: 'Bearer',
      id: `${salesforce.baseUrl}/id/${salesforce.orgId}/${salesforce.store.apiUserId}`,
    })
    const userinfo = await send(
      salesforce.baseUrl,
      body.access_token as string,
      'GET',
      '/services/oauth2/userinfo',
    )
    expect(userinfo.body.organization_id).toBe(salesforce.orgId)
    clock.nowMs += 2 * 3_600_000
    const expired = await send(salesforce.baseUrl, body.access_token as string, 'GET', `${data}/limits`)
    expect(expired).toMatchObject({ status: 401, body: [{ errorCode: 'INVALID_SESSION_ID' }] })
    expect(await token({ ...form, client_secret: 'x' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_client' },
    })
    expect((await token({ ...form, grant_type: 'password' })).body.error).toBe('unsupported_grant_type')
  })

  test('checks every claim and the signature of a JWT assertion', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    salesforce.auth.setJwtKey(publicKey.export({ type: 'spki', format: 'pem' }).toString())
    const { clientId, username } = salesforce.auth
    const claims = { iss: clientId, sub: username, aud: salesforce.baseUrl, exp: clock.nowMs / 1000 + 180 }
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
    const login = (changes: object, alg = 'RS256'): Promise<Reply> => {
      const signed = `${encode({ alg })}.${encode({ ...claims, ...changes })}`
      const assertion = `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`
      return token({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
    }
    expect((await login({})).status).toBe(200)
    for (const changes of [
      { aud: 'https://elsewhere.com' },
      { exp: clock.nowMs / 1000 - 1 },
      { exp: clock.nowMs / 1000 + 3600 },
      { sub: 'x' },
    ])
      expect(await login(changes)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await login({ iss: 'x' })).body.error).toBe('invalid_client_id')
    expect((await login({}, 'HS256')).status).toBe(400)
    salesforce.auth.setJwtKey(
      generateKeyPairSync('rsa', { modulusLength: 2048 })
        .publicKey.export({ type: 'spki', format: 'pem' })
        .toString(),
    )
    expect(await login({})).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('counts every request against the day and says so in the header', async () => {
    const first = await call('GET', `${data}/limits`)
    expect(first.headers.get('sforce-limit-info')).toBe('api-usage=1/100000')
    expect(first.body.DailyApiRequests).toEqual({ Max: 100_000, Remaining: 99_999 })
    salesforce.quota.used = 100_000
    expect(await query('SELECT Id FROM Lead')).toMatchObject({
      status: 403,
      body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED' }],
    })
  })

  test('knows its versions, retires old ones and refuses a URL that is too long', async () => {
    const versions = await call('GET', '/services/data')
    expect(versions.body.at(-1)).toEqual({
      label: "Winter '27",
      url: '/services/data/v68.0',
      version: '68.0',
    })
    expect((await call('GET', '/services/data/v68.0')).body.query).toBe('/services/data/v68.0/query')
    expect((await call('GET', '/services/data/v20.0/limits')).status).toBe(410)
    expect((await call('GET', '/services/data/v99.0/limits')).status).toBe(404)
    expect((await query(`SELECT Id FROM Lead WHERE Title = '${'x'.repeat(17_000)}'`)).status).toBe(414)
  })

  describe('the Bulk API 2.0', () => {
    const ingest = async (csv: string, options = {}): Promise<{ path: string; info: Reply }> => {
      const { body } = await call('POST', `${data}/jobs/ingest`, {
        object: 'Contact',
        operation: 'update',
        ...options,
      })
      const path = `${data}/jobs/ingest/${body.id}`
      expect(body).toMatchObject({ state: 'Open', contentUrl: `${path.slice(1)}/batches` })
      expect((await call('PUT', `${path}/batches`, csv, { 'content-type': 'text/csv' })).status).toBe(201)
      expect((await call('PATCH', path, { state: 'UploadComplete' })).body.state).toBe('UploadComplete')
      expect((await call('GET', path)).body.state).toBe('InProgress')
      return { path, info: await call('GET', path) }
    }

    test('updates from CSV: an empty cell leaves, #N/A clears, failures come back with code and field', async () => {
      const [a = '', b = '', c = ''] = firstIds('Contact', 3)
      for (const id of [a, b]) salesforce.store.edit('Contact', id, { Title: 'Old', Phone: '1' })
      const { path, info } = await ingest(
        `Id,Title,Phone,Email\n${a},"New, and ""quoted""",,\n${b},#N/A,2,\n${c},x,,nope\n`,
      )
      expect(info.body).toMatchObject({
        state: 'JobComplete',
        numberRecordsProcessed: 3,
        numberRecordsFailed: 1,
      })
      expect(salesforce.store.get('Contact', a)?.fields).toMatchObject({
        Title: 'New, and "quoted"',
        Phone: '1',
      })
      expect(salesforce.store.get('Contact', b)?.fields).not.toHaveProperty('Title')
      const results = await Promise.all(
        ['successfulResults', 'failedResults', 'unprocessedrecords'].map((name) =>
          call('GET', `${path}/${name}`),
        ),
      )
      expect(results[0]?.body.split('\n').slice(0, 2)).toEqual([
        '"sf__Id","sf__Created","Id","Title","Phone","Email"',
        `"${a}","false","${a}","New, and ""quoted""","",""`,
      ])
      expect(results[1]?.body).toBe(
        `"sf__Id","sf__Error","Id","Title","Phone","Email"\n"${c}","INVALID_EMAIL_ADDRESS:Email: invalid email address: nope:Email --","${c}","x","","nope"\n`,
      )
      expect(results[2]?.body).toBe('"Id","Title","Phone","Email"\n')
    })

    test('fails a job whose lines end otherwise than it said', async () => {
      const [id = ''] = firstIds('Contact', 1)
      const { info } = await ingest(`Id,Title\r\n${id},x\r\n`)
      expect(info.body).toMatchObject({
        state: 'Failed',
        errorMessage: expect.stringContaining('LineEnding'),
      })
      expect((await ingest(`Id,Title\r\n${id},x\r\n`, { lineEnding: 'CRLF' })).info.body.state).toBe(
        'JobComplete',
      )
    })

    test('queries to CSV in pages, each with its header', async () => {
      const { body } = await call('POST', `${data}/jobs/query`, {
        operation: 'query',
        query: 'SELECT Id, Title FROM Contact ORDER BY Id',
      })
      const path = `${data}/jobs/query/${body.id}`
      expect((await call('GET', `${path}/results`)).status).toBe(400)
      await call('GET', path)
      expect((await call('GET', path)).body).toMatchObject({
        state: 'JobComplete',
        numberRecordsProcessed: 60,
      })
      const first = await call('GET', `${path}/results?maxRecords=40`)
      expect(first.headers.get('sforce-numberofrecords')).toBe('40')
      const second = await call(
        'GET',
        `${path}/results?maxRecords=40&locator=${first.headers.get('sforce-locator')}`,
      )
      expect(second.headers.get('sforce-locator')).toBe('null')
      const lines = [first, second].flatMap((reply) => (reply.body as string).trim().split('\n').slice(1))
      expect(lines.map((line) => line.slice(1, 19))).toEqual(firstIds('Contact', 60))
    })
  })
})
