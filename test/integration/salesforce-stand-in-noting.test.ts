import { Connection } from 'jsforce'
import { describe, expect, test } from 'vitest'
import { FORMER_USER_ID } from '../../src/sandbox/salesforce/store.ts'
import { firstIds, salesforce, useSalesforce } from './salesforce-stand-in.fixture.ts'

useSalesforce()

const connect = (): Connection =>
  new Connection({ instanceUrl: salesforce.baseUrl, accessToken: salesforce.token, version: '68.0' })
const codeOf = async (work: PromiseLike<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: { errorCode?: string }) => error.errorCode,
  )

describe('the Salesforce stand-in takes notes and tasks by jsforce’s own calls', () => {
  test('writes, reads, queries, counts as ties and deletes them', async () => {
    const connection = connect()
    const [account = '', ...rest] = firstIds('Account', 2)
    const lead = firstIds('Lead', 1)[0]!
    const tasks = await connection.sobject('Task').create([
      { Subject: 'Call', WhatId: account, Description: 'why', ActivityDate: '2026-12-01' },
      { Subject: 'Write', WhoId: lead },
    ])
    expect(tasks.map(({ success }) => success)).toEqual([true, true])
    const note = await connection.sobject('Note').create({ ParentId: account, Title: 'News', Body: 'text' })
    const task = await connection.sobject('Task').retrieve(tasks[0]!.id!)
    expect(task).toMatchObject({
      Subject: 'Call',
      Status: 'Not Started',
      Priority: 'Normal',
      IsClosed: false,
      ActivityDate: '2026-12-01',
      OwnerId: salesforce.store.apiUserId,
    })
    const found = await connection.query(`SELECT Id, Body FROM Note WHERE ParentId = '${account}'`)
    expect(found.records).toEqual([expect.objectContaining({ Id: note.id, Body: 'text' })])
    const tied = await connection.query<{ Tasks: { totalSize: number } | null }>(
      `SELECT Id, (SELECT Id FROM Tasks), (SELECT Id FROM Notes) FROM Account WHERE Id IN ('${account}', '${rest[0]}')`,
    )
    expect(tied.records.map(({ Tasks }) => Tasks?.totalSize ?? 0).toSorted()).toEqual([0, 1])
    expect(await codeOf(connection.query("SELECT Id FROM Task WHERE Description = 'why'"))).toBe(
      'INVALID_FIELD',
    )
    const gone = await connection.sobject('Task').destroy(tasks.map(({ id }) => id!))
    expect(gone.map(({ success }) => success)).toEqual([true, true])
    expect((await connection.query('SELECT Id FROM Task')).totalSize).toBe(0)
  })

  test('refuses what Salesforce refuses', async () => {
    const create = (type: string, values: Record<string, unknown>) =>
      codeOf(connect().sobject(type).create(values))
    const [account = ''] = firstIds('Account', 1)
    const [contact = ''] = firstIds('Contact', 1)
    const [lead = ''] = firstIds('Lead', 1)
    expect(await create('Note', { Title: 'No record' })).toBe('REQUIRED_FIELD_MISSING')
    expect(await create('Note', { ParentId: account })).toBe('REQUIRED_FIELD_MISSING')
    expect(await create('Note', { ParentId: account, Title: 'T'.repeat(81) })).toBe('STRING_TOO_LONG')
    expect(await create('Task', { Subject: 'S', WhatId: contact })).toBe('FIELD_INTEGRITY_EXCEPTION')
    expect(await create('Task', { Subject: 'S', WhoId: account })).toBe('FIELD_INTEGRITY_EXCEPTION')
    expect(await create('Task', { Subject: 'S', WhoId: lead, WhatId: account })).toBe(
      'FIELD_INTEGRITY_EXCEPTION',
    )
    expect(await create('Task', { Subject: 'S', WhatId: account, Status: 'Someday' })).toBe(
      'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
    )
    expect(await create('Task', { Subject: 'S', WhatId: account, OwnerId: FORMER_USER_ID })).toBe(
      'INACTIVE_OWNER_OR_USER',
    )
    salesforce.store.delete('Account', account)
    expect(await create('Task', { Subject: 'S', WhatId: account })).toBe('ENTITY_IS_DELETED')
    expect(await create('Task', { Subject: 'S', IsClosed: true })).toBe('INVALID_FIELD_FOR_INSERT_UPDATE')
  })

  test('lets only those delete a task who own it or may delete its record', async () => {
    const [account = ''] = firstIds('Account', 1)
    const owner = '005Wx0000000P2TIAU'
    const connection = connect()
    const task = await connection.sobject('Task').create({ Subject: 'S', WhatId: account, OwnerId: owner })
    const destroy = (): Promise<unknown> => codeOf(connection.sobject('Task').destroy(task.id!))
    expect(await destroy()).toBe('INSUFFICIENT_ACCESS_OR_READONLY')
    salesforce.store.access.modifyAll.add('Account')
    expect(await destroy()).toBeUndefined()
  })
})
