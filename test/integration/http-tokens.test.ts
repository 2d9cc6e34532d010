import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createToken, revokeToken } from '../../src/app/web/tokens.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { createAuditLog } from '../../src/store/access/audit.ts'
import { callRefusals } from '../../src/store/access/call-refusals.ts'
import { call, openHttpHouse, type HttpHouse } from '../support/http-house.ts'

interface Enriched {
  runId: string
  tasks: { id: string; status: string; reason: string | null; costUsd: string }[]
}

let sandbox: Sandbox
let house: HttpHouse
let next = 0

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openHttpHouse(sandbox)
})
afterAll(async () => {
  await house?.close()
  await sandbox?.stop()
})

function aCompany(): string {
  for (;;) {
    next += 1
    const url = `https://www.profnet.example/company/token-${next}`
    if (companyAnswer(url).data) return house.addCompany({ name: `Acme ${next}`, profnet_url: url })
  }
}

const enrich = (token: string, ids: string[], query = '') =>
  call<Enriched>(`${house.url}/v1/enrich${query}`, {
    token,
    body: { connector: 'hubspot', object: 'company', ids },
  })

describe('a token', () => {
  test('may do what its scopes say, and sees what was asked with it', async () => {
    const [asks, reads, admin] = [
      await house.token({ scopes: ['enrich'] }),
      await house.token({ scopes: ['read'] }),
      await house.token({ scopes: ['admin'] }),
    ]
    const other = await house.token({ scopes: ['enrich'] })
    const id = aCompany()
    const refused = await enrich(reads, [id])
    expect(refused).toMatchObject({ status: 403, body: { code: 'token_scope' } })
    const { body } = await enrich(asks, [id], '?wait=13')
    const [task] = body.tasks
    for (const path of [`/v1/tasks/${task?.id}`, `/v1/runs/${body.runId}`]) {
      const statuses = []
      for (const token of [asks, reads, admin, other])
        statuses.push((await call(`${house.url}${path}`, { token })).status)
      expect(statuses).toEqual([200, 200, 200, 404])
    }
    expect((await enrich(admin, [id])).status).toBe(202)
  })

  test('sees what it asked for although another caller had asked for it a moment before', async () => {
    const [first, second, third] = [await house.token(), await house.token(), await house.token()]
    const id = aCompany()
    const before = await enrich(first, [id], '?wait=13')
    // Each time it is pressed.
    for (const token of [second, second]) {
      const { status, body } = await call<Enriched & { statusUrl: string }>(`${house.url}/v1/enrich`, {
        token,
        body: { connector: 'hubspot', object: 'company', ids: [id] },
      })
      expect({ status, runId: body.runId }).toEqual({ status: 202, runId: before.body.runId })
      for (const path of [body.statusUrl, `/v1/tasks/${body.tasks[0]?.id}`]) {
        const statuses = []
        for (const who of [first, second, third])
          statuses.push((await call(`${house.url}${path}`, { token: who })).status)
        expect([path, statuses]).toEqual([path, [200, 200, 404]])
      }
    }
  })

  test('is let in no more once it is revoked', async () => {
    const token = await house.token()
    const [{ id } = { id: '' }] = await house.context.database.db
      .selectFrom('api_tokens')
      .select('id')
      .orderBy('created_at', 'desc')
      .limit(1)
      .execute()
    expect((await enrich(token, ['404404404'])).status).toBe(202)
    expect(await revokeToken(house.context, id)).toBe(true)
    expect(await enrich(token, ['404404404'])).toMatchObject({ status: 401, body: { code: 'token_unknown' } })
  })

  test('is audited when it is made, when it asks, and when it is revoked; never with its text', async () => {
    const { id, token } = await createToken(house.context, {
      name: 'for the audit',
      scopes: ['enrich'],
      perMinute: 10,
      dayCapAtomic: 5_000_000n,
    })
    const records = [aCompany(), aCompany()]
    const { body } = await enrich(token, records, '?wait=13')
    // The same task: nothing new was begun.
    await enrich(token, records)
    await revokeToken(house.context, id)
    await revokeToken(house.context, id)
    const rows = await createAuditLog(house.context.database.db, house.context).list(3)
    expect(rows).toMatchObject([
      { actor: 'cli', role: 'shell', action: 'token.revoke', target: id },
      {
        actor: `token:${id}`,
        role: 'api',
        action: 'enrich',
        target: body.runId,
        details: { connector: 'hubspot', entity: 'companies', records: 2 },
      },
      {
        actor: 'cli',
        action: 'token.create',
        target: id,
        details: { name: 'for the audit', scopes: 'enrich', perMinute: 10, dayUsd: '5.000000' },
      },
    ])
    expect(
      JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    ).not.toContain(token)
  })

  test('has its own rate, over all its calls at once', async () => {
    const token = await house.token({ scopes: ['read'], perMinute: 5 })
    // The clock may turn the minute between two of the calls: so many fit into two minutes, and not one more.
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => call(`${house.url}/v1/runs/none`, { token })),
    )
    const limited = answers.filter(({ status }) => status === 429)
    expect(limited.length).toBeGreaterThanOrEqual(20)
    for (const { headers } of limited) {
      const after = Number(headers.get('retry-after'))
      expect(after).toBeGreaterThan(0)
      expect(after).toBeLessThanOrEqual(60)
    }
    const refusals = await callRefusals(house.context.database.db)
    expect(refusals.find(({ reason }) => reason === 'token_rate')?.count).toBe(limited.length)
  })

  test('spends no more in a day than its cap, however many calls race for the last cent', async () => {
    const token = await house.token({ dayCapAtomic: 30_000n })
    const before = (await house.transfers()).length
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => enrich(token, [aCompany()], '?wait=13')),
    )
    const tasks = answers.flatMap(({ body }) => body.tasks)
    expect((await house.transfers()).length - before).toBe(3)
    const count = (status: number) => answers.filter((answer) => answer.status === status).length
    expect({ done: count(200), parked: count(202) }).toEqual({ done: 3, parked: 5 })
    expect(tasks.filter(({ status }) => status === 'parked')).toHaveLength(5)

    const [parked] = tasks.filter(({ status }) => status === 'parked')
    const { body } = await call<{ reason: string; done: boolean }>(`${house.url}/v1/tasks/${parked?.id}`, {
      token,
    })
    expect(body.reason).toContain('the budget of this token (0.030000 USD) is used up')
    expect(body.done).toBe(true)
    // Another token's cap is another's.
    expect((await enrich(await house.token(), [aCompany()], '?wait=13')).status).toBe(200)
  })
})
